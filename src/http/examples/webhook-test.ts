/** A call as the API document shows it, with what the service answers in local mode. A test makes it and compares. */
export const testWebhookExamples = {
  taken: {
    summary: 'The receiver takes it',
    params: { templateId: 'c3d1e5f7-0b1a-4a3e-b5d4-7e6f5a4b3c33' },
    status: 200,
    answer: {
      webhookId: '0d1c2b3a-4e5f-4a6b-8c7d-9e0f1a2b3c42',
      templateId: 'c3d1e5f7-0b1a-4a3e-b5d4-7e6f5a4b3c33',
      url: 'https://hooks.contoso.example/hooks/sites',
      delivered: true,
      status: '204',
      meaning: 'taken',
      milliseconds: 31,
    },
  },
} as const
