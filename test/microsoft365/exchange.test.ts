import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { type MailboxProgress, TenantError } from '../../src/core/index.ts'
import { type ExchangeAnswer as Answer, exchangeThat, nothing } from '../support/exchange-that.ts'
import { send, sendJson } from '../support/http-server.ts'
import { mailboxInput, ongoing } from '../support/mailbox-steps.ts'
import { dana } from '../support/microsoft365.ts'

const ids = { mailboxId: dana.id, userId: dana.id, userPrincipalName: 'room@contoso.example' }
const thrown = (error: unknown): unknown => error
const ago = (seconds: number): Date => new Date(Date.now() - seconds * 1000)
const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error)

/** The same refusal in the three forms that Exchange uses (facts of the module's wire protocol). */
const forms: Record<string, (type: string, text: string) => object> = {
  'with a hash': (type, text) => ({ details: [{ code: 'Context', target: '', message: `Ex6F9304|${type}|${text}` }] }),
  'without a hash': (type, text) => ({ details: [{ code: 'Client', message: `|${type}|${text}` }] }),
  'as JSON text': (type, text) => ({ details: [{ message: JSON.stringify({ Message: text, TypeName: type }) }] }),
  'in the inner exception': (type, text) => ({
    innererror: { message: 'x', type: 'ODataServiceException', internalexception: { message: text, type } },
  }),
  'in the inner text': (type, text) => ({ innererror: { internalexception: { message: `|${type}|${text}` } } }),
}
const refuses =
  (status: number, type: string, text = 'Words of Exchange.', form = 'with a hash'): Answer =>
  (_, response) =>
    sendJson(response, status, {
      error: { code: 'BadRequest', message: 'Error executing cmdlet', ...forms[form]?.(type, text) },
    })
const namespaced = (name: string) => `Microsoft.Exchange.Management.Some.Tasks.${name}`
const contact = mailboxInput({ details: { city: 'Bern' }, progress: ids })

describe('a cmdlet', () => {
  test("is called as Microsoft's module calls it", async () => {
    const { tenant, received } = await exchangeThat(nothing)
    await tenant.mailboxSteps['apply-contact'](contact)
    expect(received).toMatchObject([
      {
        url: '/adminapi/beta/0c0ffee0-1111-4111-8111-000000000365/InvokeCommand',
        cmdlet: 'Set-User',
        parameters: { Identity: dana.id, City: 'Bern' },
        headers: {
          authorization: 'Bearer token',
          'content-type': 'application/json; charset=utf-8',
          prefer: 'odata.maxpagesize=1000',
          'x-responseformat': 'json',
          'x-serializationlevel': 'Partial',
          'x-cmdletname': 'Set-User',
          'x-anchormailbox':
            'APP:SystemMailbox{bb558c35-97f1-4cb9-8ff7-d53741dc928c}@0c0ffee0-1111-4111-8111-000000000365',
        },
      },
    ])
  })

  test('for the automatic reply runs on the server of the mailbox', async () => {
    const { tenant, received } = await exchangeThat(nothing)
    await tenant.mailboxSteps['apply-automatic-reply'](
      mailboxInput({ details: { automaticReply: 'x' }, progress: ids }),
    )
    expect(received[0]?.headers['x-anchormailbox']).toBe('UPN:room@contoso.example')
  })

  test('that reads is repeated at once; a cmdlet that writes is never repeated', async () => {
    const { tenant, directory, received } = await exchangeThat((_, response) => sendJson(response, 503, {}))
    await expect(directory.isMailAddressFree('a@contoso.example')).rejects.toMatchObject({ retryable: true })
    expect(received).toHaveLength(3)
    await expect(tenant.mailboxSteps['apply-contact'](contact)).rejects.toMatchObject({ retryable: true })
    expect(received).toHaveLength(4)
  })
})

describe.each(Object.keys(forms))('a refusal written %s', (form) => {
  test.each([
    'CmdletProxyNotAvailableFailure',
    'ServerBusyException',
    'TransientException',
    'ADTransientException',
    'BackendCommunicationException',
    'OverBudgetException',
  ])('causes a retry for %s, although the status is 400', async (name) => {
    const { tenant } = await exchangeThat(refuses(400, namespaced(name), 'Words of Exchange.', form))
    const failure = await failureOf(tenant.mailboxSteps['apply-contact'](contact))
    expect(failure).toMatchObject({ code: name, retryable: true })
    expect(String(failure)).toContain(name)
    expect(String(failure)).not.toContain('Words of Exchange')
  })

  test.each([
    'WLCDManagedMemberExistsException',
    'WLCDMemberNameInUseException',
    'ProxyAddressExistsException',
    'ADObjectAlreadyExistsException',
    'PropertyValueExistsException',
    'NameNotAvailableException',
    'ManagementObjectAlreadyExistsException',
    'MemberAlreadyExistsException',
  ])('means for %s that the name is in use: the step checks again, then reports it as taken', async (name) => {
    const { tenant, received } = await exchangeThat((call, ...rest) =>
      call.cmdlet === 'New-Mailbox'
        ? refuses(400, namespaced(name), 'Taken.', form)(call, ...rest)
        : nothing(call, ...rest),
    )
    const take = async (progress: MailboxProgress) => {
      received.splice(0)
      // The work began long ago. The time since which the name is in use counts.
      const early = mailboxInput({ startedAt: ago(86_400), progress })
      const result = await ongoing(tenant, early).take('create-mailbox').catch(thrown)
      return { result, cmdlets: received.map(({ cmdlet }) => cmdlet).join(' ') }
    }
    const checks = 'Get-Mailbox Get-Recipient'
    const tries = `${checks} New-Mailbox Get-Recipient`
    // A mailbox that is not visible yet may be our own, so the step checks again.
    const held = { done: false, made: { heldSince: expect.stringMatching(/Z$/) } }
    expect(await take({})).toMatchObject({ result: held, cmdlets: `${checks} ${tries}` })
    const createSince = ago(1000).toISOString()
    const recent = { createSince, heldSince: ago(280).toISOString() }
    expect(await take(recent)).toEqual({ result: { done: false, retryAfterSeconds: 5 }, cmdlets: checks })
    // After minutes the holder cannot be ours. The step calls Exchange once more and then reports the name as taken.
    const old = { createSince, heldSince: ago(320).toISOString() }
    expect(await take(old)).toMatchObject({ result: held, cmdlets: `${checks} ${tries}` })
    expect(await take({ ...recent, triedAgain: true })).toMatchObject({ cmdlets: checks, result: { done: false } })
    expect(await take({ ...old, triedAgain: true })).toMatchObject({
      cmdlets: checks,
      result: { code: 'name-taken', retryable: false },
    })
  })

  test.each([400, 404])(
    'means for ManagementObjectNotFoundException with %i that the object is not visible yet',
    async (status) => {
      const answer = refuses(status, namespaced('ManagementObjectNotFoundException'), 'Not found.', form)
      const { tenant } = await exchangeThat(answer)
      expect(await tenant.mailboxSteps['apply-contact'](contact)).toEqual({ done: false, retryAfterSeconds: 2 })
      const early = { ...contact, startedAt: new Date(Date.now() - 60_000) }
      expect(await tenant.mailboxSteps['apply-contact'](early)).toEqual({ done: false, retryAfterSeconds: 5 })
    },
  )

  test('stops the request for any other exception', async () => {
    const { tenant } = await exchangeThat(refuses(400, namespaced('DataValidationException'), 'Wrong.', form))
    await expect(tenant.mailboxSteps['apply-contact'](contact)).rejects.toMatchObject({
      code: 'DataValidationException',
      retryable: false,
    })
  })

  test('without an object id causes a retry, which checks first', async () => {
    const text = 'ExternalDirectoryObjectId was not returned by the directory.'
    const { tenant } = await exchangeThat((call, ...rest) =>
      call.cmdlet === 'New-Mailbox'
        ? refuses(500, namespaced('TaskException'), text, form)(call, ...rest)
        : nothing(call, ...rest),
    )
    const failure = await failureOf(ongoing(tenant, mailboxInput()).take('create-mailbox'))
    expect(failure).toMatchObject({ code: 'half-made', retryable: true })
  })
})

const wrapper = 'Microsoft.Exchange.Configuration.CmdletProxyException'
const proxied = (command: string, report: string) =>
  `Error on proxy command '${command}' to server A.PROD.OUTLOOK.COM: Server version 15.20.6699.0000, Proxy method PSWS: \r\n${report}`
const named = (type: string) => `Ex6F9304|Microsoft.Exchange.Some.${type}|The object couldn't be found.`
const asJson = (type: string) =>
  ` NotFound: Error executing cmdlet : { "details": [ { "message": "${named(type)}" } ] } .`
/** The formats in which servers of different ages report the error of another server. */
const reports: Record<string, (type: string) => string> = {
  'as JSON': asJson,
  'as JSON in JSON': (type) => JSON.stringify(JSON.stringify({ details: [{ message: named(type) }] })),
  'by name': (type) =>
    `Cmdlet error with following error message:\r\nMicrosoft.Exchange.Some.${type}: Text. [Server=A] .`,
  'through two servers': (type) => `|${wrapper}|${proxied('Set-User', asJson(type))}`,
}

describe.each(Object.keys(reports))("another server's error %s", (form) => {
  const answers = (type: string, command = 'Set-User') =>
    exchangeThat(refuses(400, wrapper, proxied(command, reports[form]?.(type) ?? '')))

  test.each([
    ['SomeTransientException', { code: 'SomeTransientException', retryable: true }],
    ['TaskArgumentException', { code: 'TaskArgumentException', retryable: false }],
    ['ADServerSettingsChangedException', { code: 'CmdletProxyException', retryable: true }],
  ])('counts as %s', async (type, expected) => {
    const { tenant } = await answers(type)
    const failure = await failureOf(tenant.mailboxSteps['apply-contact'](contact))
    expect(failure).toMatchObject(expected)
    expect(String(failure)).toContain(type)
  })

  test('is "not found" or a taken address if its exception says so, whatever text people typed', async () => {
    const typed = "Set-User -Notes:', Proxy method X: |A.DataValidationException|x'"
    const { tenant } = await answers('ManagementObjectNotFoundException', typed)
    expect(await tenant.mailboxSteps['apply-contact'](contact)).toMatchObject({ done: false })
    const alias = mailboxInput({ aliasAddress: 'a@contoso.example', progress: ids })
    const taken = await exchangeThat((call, ...rest) =>
      call.cmdlet === 'Set-Mailbox'
        ? refuses(400, wrapper, proxied(typed, reports[form]?.('ProxyAddressExistsException') ?? ''))(call, ...rest)
        : sendJson(rest[0], 200, { value: [{ EmailAddresses: [] }] }),
    )
    await expect(taken.tenant.mailboxSteps['apply-settings'](alias)).rejects.toMatchObject({ code: 'alias-taken' })
  })
})

describe('a call that Exchange cannot read', () => {
  test.each([
    [
      'ParameterTransformationException',
      "Cannot process argument transformation on parameter 'City'. Cannot convert value.",
      'It refused the parameter City. A retry does not help.',
    ],
    [
      'AmbiguousParameterSetException',
      'Parameter set cannot be resolved using the specified named parameters. Invalid cmdlet parameters specified. Town',
      'It refused the parameter Town. A retry does not help.',
    ],
    ['AmbiguousParameterSetException', 'Nothing known.', 'It refused a parameter. A retry does not help.'],
  ])('is final, and its message names the parameter: %s', async (type, text, says) => {
    const { tenant } = await exchangeThat(refuses(400, namespaced(type), text, 'in the inner exception'))
    const failure = await failureOf(tenant.mailboxSteps['apply-contact'](contact))
    expect(failure).toMatchObject({ code: type, retryable: false })
    expect(String(failure)).toContain(`Exchange Online answered 400 (${type}) while`)
    expect(String(failure)).toContain(says)
  })
})

describe('an answer', () => {
  test('with 403 and one NUL byte causes an error that names service, call and role', async () => {
    const { tenant } = await exchangeThat((_, response) => send(response, 403, '\u0000'))
    const failure = await failureOf(tenant.mailboxSteps['apply-contact'](contact))
    expect(failure).toMatchObject({ code: 'exchange-role-missing', retryable: false })
    for (const part of ['Exchange Online', "writing the mailbox's contact details", 'Exchange Administrator'])
      expect(String(failure)).toContain(part)
  })

  test.each([401, 403])('with %i causes an error that names the role to grant', async (status) => {
    const { tenant } = await exchangeThat((_, response) =>
      sendJson(response, status, { error: { code: 'Unauthorized', message: 'User is not allowed to call Set-User' } }),
    )
    const failure = await failureOf(tenant.mailboxSteps['apply-contact'](contact))
    expect(failure).toMatchObject({ code: 'exchange-role-missing', retryable: false })
    expect(String(failure)).toContain('Exchange.ManageAsApp')
    expect(String(failure)).toContain('Exchange Administrator')
  })

  test.each<[string, (response: ServerResponse) => void]>([
    ['an HTML page', (response) => send(response, 200, '<html>', { 'content-type': 'text/html' })],
    ['a list', (response) => sendJson(response, 200, [])],
    ['a value that is no list', (response) => sendJson(response, 200, { value: 'none' })],
    ['null', (response) => sendJson(response, 200, null)],
    ['nothing', (response) => send(response, 200)],
    ['mailboxes that are numbers', (response) => sendJson(response, 200, { value: [7] })],
    ['mailboxes without ids', (response) => sendJson(response, 200, { value: [{ Guid: 'x' }] })],
    ['an error that is a text', (response) => sendJson(response, 400, { error: 'no' })],
    ['details that are no list', (response) => sendJson(response, 400, { error: { details: 'x', innererror: 7 } })],
    ['details of nonsense', (response) => sendJson(response, 400, { error: { details: [null, 7, { message: '{' }] } })],
  ])('that is %s causes a TenantError', async (_, answer) => {
    const { tenant } = await exchangeThat((_call, response) => answer(response))
    const failure = await failureOf(tenant.mailboxSteps['create-mailbox'](mailboxInput()))
    expect(failure).toBeInstanceOf(TenantError)
  })

  test('about a person who is unknown to Exchange causes an error that names the person', async () => {
    const notFound = refuses(404, namespaced('ManagementObjectNotFoundException'))
    const { tenant } = await exchangeThat(
      (call, ...rest) => (call.cmdlet.startsWith('Get-Mailbox') ? nothing : notFound)(call, ...rest),
      (_, response) => sendJson(response, 200, { value: [dana] }),
    )
    const input = mailboxInput({ access: [{ person: dana, level: 'FullAccess' }], progress: ids })
    const failure = await failureOf(tenant.mailboxSteps['grant-access'](input))
    expect(failure).toMatchObject({ code: 'person-unknown-to-exchange', retryable: false })
    expect(String(failure)).toContain('Dana Fox')
  })
})
