import { describe, expect, it } from 'vitest'
import strings from '../../cards/strings/en.json' with { type: 'json' }
import { answerMeanings, meaningOf } from '../../src/core/index.ts'

describe('the meaning of a receiver’s answer', () => {
  it.each([
    [null, 'none'],
    ['204', 'taken'],
    ['302', 'redirect'],
    ['401', 'signature'],
    ['404', 'notThere'],
    ['410', 'gone'],
    ['422', 'refused'],
    ['429', 'tooMany'],
    ['503', 'broken'],
    ['no answer in 15 s', 'timeout'],
    ['not reachable (ETIMEDOUT)', 'timeout'],
    ['not reachable (ENOTFOUND)', 'noName'],
    ['not reachable (EAI_AGAIN)', 'noName'],
    ['not reachable (ECONNREFUSED)', 'noListener'],
    ['not reachable (ECONNRESET)', 'cutOff'],
    ['not reachable (HPE_INVALID_CONSTANT)', 'cutOff'],
    ['not reachable (DEPTH_ZERO_SELF_SIGNED_CERT)', 'certificate'],
    ['not reachable (CERT_HAS_EXPIRED)', 'certificate'],
    ['not reachable (ERR_TLS_CERT_ALTNAME_INVALID)', 'certificate'],
    ['not reachable (UNABLE_TO_VERIFY_LEAF_SIGNATURE)', 'certificate'],
    ['not reachable', 'unreachable'],
    ['not reachable (EHOSTUNREACH)', 'unreachable'],
    ['not sent: A webhook does not go to a private address.', 'forbidden'],
    ['not sent: the receiver was disabled because it answered 410 Gone', 'switchedOff'],
    ['not sent: the receiver was switched off, since it said 410 Gone', 'switchedOff'],
    ['not sent: the template has no webhook any more', 'noWebhook'],
    ['not sent: its secret cannot sign; write the webhook anew', 'noSecret'],
    ['stands still: the process died each time it ran', 'standsStill'],
    ['what an earlier version wrote', 'other'],
  ] as const)('%s: %s', (status, meaning) => {
    expect(meaningOf(status)).toBe(meaning)
  })

  it('has a text for each meaning', () => {
    expect(Object.keys(strings.webhooks.answer).sort()).toEqual([...answerMeanings].sort())
  })
})
