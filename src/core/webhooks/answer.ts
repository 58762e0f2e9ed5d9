/** What came of an attempt, as people are told it; cards have a sentence for each. */
export const answerMeanings = [
  'taken',
  'redirect',
  'signature',
  'notThere',
  'gone',
  'tooMany',
  'refused',
  'broken',
  'timeout',
  'noName',
  'noListener',
  'cutOff',
  'certificate',
  'unreachable',
  'forbidden',
  'switchedOff',
  'noWebhook',
  'noSecret',
  'standsStill',
  'other',
  'none',
] as const
export type AnswerMeaning = (typeof answerMeanings)[number]

/** What errors of Node's network say, by the beginnings of their codes (Node.js, "Errors": common system errors, TLS). */
const networkErrors: readonly (readonly [RegExp, AnswerMeaning])[] = [
  [/^(ENOTFOUND|EAI_|ENODATA|ENOTIMP|ESERVFAIL)/, 'noName'],
  [/^ECONNREFUSED/, 'noListener'],
  [/^(ETIMEDOUT|ESOCKETTIMEDOUT)/, 'timeout'],
  [/^(ECONNRESET|ECONNABORTED|EPIPE|HPE_)/, 'cutOff'],
  [/CERT|^(DEPTH_ZERO|UNABLE_TO_|SELF_SIGNED|ERR_TLS|ERR_SSL|EPROTO|HOSTNAME_MISMATCH)/, 'certificate'],
]

/** Why nothing was sent, as the log of deliveries begins to say it. */
const unsent: readonly (readonly [RegExp, AnswerMeaning])[] = [
  [/^no answer in /, 'timeout'],
  [/^not sent: the receiver was switched off/, 'switchedOff'],
  [/^not sent: the template has no webhook/, 'noWebhook'],
  [/^not sent: its secret/, 'noSecret'],
  [/^not sent: /, 'forbidden'],
  [/^stands still: /, 'standsStill'],
]

/**
 * What the log of deliveries says of an attempt (`204`, `not reachable (ECONNREFUSED)`, `no answer in 15 s`), in one word for which
 * there is a sentence. `null`: nothing was tried yet.
 */
export function meaningOf(said: string | null): AnswerMeaning {
  if (said === null) return 'none'
  if (/^\d{3}$/.test(said)) return meaningOfStatus(Number(said))
  const code = /^not reachable(?: \(([A-Z0-9_]+)\))?$/.exec(said)
  if (code) return networkErrors.find(([beginning]) => beginning.test(code[1] ?? ''))?.[1] ?? 'unreachable'
  return unsent.find(([beginning]) => beginning.test(said))?.[1] ?? 'other'
}

function meaningOfStatus(status: number): AnswerMeaning {
  if (status >= 200 && status < 300) return 'taken'
  if (status >= 300 && status < 400) return 'redirect'
  if (status === 400 || status === 401 || status === 403) return 'signature'
  if (status === 404 || status === 405) return 'notThere'
  if (status === 410) return 'gone'
  if (status === 429) return 'tooMany'
  return status >= 500 ? 'broken' : 'refused'
}
