/** Calls as the API document shows them, with what the service answers in local mode. A test makes each and compares. */

export const receiveActivityExamples = {
  otherChannel: {
    summary: 'A channel other than Teams',
    body: {
      type: 'message',
      channelId: 'directline',
      serviceUrl: 'https://directline.botframework.com/',
      from: { id: 'kim' },
      recipient: { id: 'bot' },
      conversation: { id: '1' },
    },
    status: 403,
    answer: { error: { code: '403', message: 'This bot speaks on Teams only.' } },
  },
  notAnActivity: {
    summary: 'No activity',
    body: { hello: 'world' },
    status: 400,
    answer: { error: { code: '400', message: 'This is not a Bot Framework activity.' } },
  },
  message: {
    summary: 'Somebody types “help”',
    body: {
      type: 'message',
      id: '1772442041000',
      channelId: 'msteams',
      serviceUrl: 'https://smba.trafficmanager.net/emea/',
      text: 'help',
      from: { id: '29:kim', name: 'Kim Lee', aadObjectId: '11111111-aaaa-4aaa-8aaa-000000000001' },
      recipient: { id: '28:bot', name: 'Quartermaster' },
      conversation: { id: 'a:kim', conversationType: 'personal', tenantId: '0c0ffee0-1111-4111-8111-000000000365' },
      channelData: { tenant: { id: '0c0ffee0-1111-4111-8111-000000000365' } },
    },
    status: 200,
  },
} as const

export const readLivenessExamples = {
  alive: { summary: 'It is alive', status: 200, answer: { status: 'ok', checks: {} } },
} as const

export const readReadinessExamples = {
  ready: {
    summary: 'It is ready',
    status: 200,
    answer: { status: 'ok', checks: { database: 'answers', queue: 'is worked on' } },
  },
  starting: {
    summary: 'It is starting',
    status: 503,
    answer: { status: 'unavailable', checks: { process: 'is starting' } },
  },
} as const

export const readOpenApiExamples = {
  document: { summary: 'The first of its fields', status: 200, answer: { openapi: '3.1.1' } },
} as const

export const readMetricsExamples = {
  figures: { summary: 'From this machine, in local mode', status: 200 },
} as const
