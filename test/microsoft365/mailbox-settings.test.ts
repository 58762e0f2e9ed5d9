import { describe, expect, test } from 'vitest'
import { visibleText } from '../../src/microsoft365/mailboxes/fields.ts'
import { mailboxInput, runMailbox, wholeMailbox } from '../support/mailbox-steps.ts'
import { withTenant } from '../support/simulated-tenant.ts'

const contoso = withTenant()

const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error)

describe('an additional address', () => {
  test('that is taken in the meantime stops the request; the error names the address', async () => {
    const input = await runMailbox(contoso.tenant, mailboxInput({ aliasAddress: 'desk@contoso.example' }), [
      'create-mailbox',
    ])
    const EmailAddresses = { '@odata.type': '#Exchange.GenericHashTable', add: ['smtp:desk@contoso.example'] }
    await contoso.cmdlet('Set-Mailbox', { Identity: 'info', EmailAddresses })
    const failure = await failureOf(contoso.tenant.mailboxSteps['apply-settings'](input))
    expect(failure).toMatchObject({ code: 'alias-taken', retryable: false })
    expect(String(failure)).toContain('desk@contoso.example')
  })
})

describe.each([1, 2, 19, 100, 102_400])('a capacity of %i MB', (capacity) => {
  test('is the size of the mailbox, with its warning limits in order below it', async () => {
    await contoso.modes({ mailboxesAreLicensed: true })
    const input = await runMailbox(contoso.tenant, mailboxInput({ details: { capacity } }))
    const [mailbox = {}] = await contoso.found('Get-Mailbox', { Identity: input.address })
    const bytes = ['IssueWarningQuota', 'ProhibitSendQuota', 'ProhibitSendReceiveQuota'].map((name) =>
      Number(/\(([\d,]+) bytes/.exec(String(mailbox[name]))?.[1]?.replaceAll(',', '')),
    )
    expect(bytes).toEqual([...bytes].sort((one, other) => one - other))
    expect(bytes[2]).toBe(capacity * 1024 ** 2)
    expect(bytes[0]).toBeGreaterThanOrEqual(1024 ** 2)
  })
})

test('hostile texts arrive unchanged, and escaped in HTML', async () => {
  const hostile = `Li'l "Bobby" \${1+1} <script>alert('x')</script> & $(Get-Mailbox)\nsecond line`
  const details = {
    state: hostile,
    streetAddress: hostile,
    companyName: hostile.slice(0, 64),
    postalCode: "8'001",
    city: hostile,
    phone: "+41 'x'",
    businessPhones: ["'; drop", `\${2}`],
    department: hostile.slice(0, 64),
    notes: hostile,
    officeLocation: hostile,
    audioDeviceName: hostile,
    displayDeviceName: hostile,
    videoDeviceName: hostile,
    tags: ["it's", '<b>', `\${x}`],
    automaticReply: hostile,
  }
  const customAttributes = new Map([[7, hostile]])
  const input = await runMailbox(contoso.tenant, wholeMailbox({ kind: 'roomMailbox', details, customAttributes }))
  const Identity = input.address
  expect(await contoso.found('Get-User', { Identity })).toMatchObject([
    {
      StateOrProvince: hostile,
      StreetAddress: hostile,
      Company: details.companyName,
      City: hostile,
      OtherTelephone: details.businessPhones,
      Notes: hostile,
      Office: hostile,
    },
  ])
  expect(await contoso.found('Get-Place', { Identity })).toMatchObject([
    { Street: hostile, State: hostile, AudioDeviceName: hostile, Tags: details.tags },
  ])
  expect(await contoso.found('Get-Mailbox', { Identity })).toMatchObject([{ CustomAttribute7: hostile }])
  const html =
    `Li'l &quot;Bobby&quot; \${1+1} &lt;script&gt;alert('x')&lt;/script&gt; ` +
    '&amp; $(Get-Mailbox)<br>\r\nsecond line'
  const shown = expect.stringContaining(`<body>\r\n${html}\r\n</body>`)
  expect(await contoso.found('Get-MailboxAutoReplyConfiguration', { Identity })).toMatchObject([
    { InternalMessage: shown, ExternalMessage: shown },
  ])
  const check = await contoso.tenant.mailboxSteps['ready-check'](input)
  expect(Object(check).checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
})

test('the address of a room and its equipment are set in separate calls', async () => {
  await contoso.forgetCalls()
  const details = {
    city: 'Bern',
    country: 'CH',
    streetAddress: 'Bundesplatz 3',
    tags: ['Quiet'],
    metadata: { seats: 4 },
  }
  await runMailbox(contoso.tenant, wholeMailbox({ kind: 'roomMailbox', details }))
  const set = (await contoso.calls()).filter(({ operation }) => operation === 'exchange.set-place')
  const parameterNames = set.map(({ body }) => Object.keys(Object(body).CmdletInput.Parameters).sort())
  expect(parameterNames).toEqual([
    ['City', 'CountryOrRegion', 'Identity', 'Street'],
    ['Capacity', 'Identity', 'Tags'],
  ])
  await contoso.forgetCalls()
  await runMailbox(contoso.tenant, wholeMailbox({ kind: 'roomMailbox', details: { city: undefined, tags: ['Quiet'] } }))
  expect((await contoso.calls()).filter(({ operation }) => operation === 'exchange.set-place')).toHaveLength(1)
})

describe('a reply that is read back', () => {
  const page = (body: string, head = '') =>
    `<html>\r\n<head>\r\n<meta charset="utf-8">${head}</head>\r\n<body>\r\n${body}\r\n</body>\r\n</html>\r\n`

  test.each([
    ['only the visible text of the page', page('Away'), 'Away'],
    ['no style', page('Away', '<style type="text/css"><!-- p {margin:0} --></style>'), 'Away'],
    ['no comment and no script', page('A<!-- <b>x</b> -->w<script>alert(1)</script>ay'), 'Away'],
    ['lines that end with any element', page('<div>One</div><p>Two<br/>Three</p>'), 'One Two Three'],
    ['numeric entities', page('Gr&#252;&#xDF;e &#8211; &#x1F600;'), 'Grüße – 😀'],
    ['named entities', page('&Auml;&nbsp;&eacute; &ldquo;x&rdquo; &hellip; &euro; &apos;'), "Ä é “x” … € '"],
    ['entities once', page('&amp;lt;b&amp;gt; &amp;#39;'), '&lt;b&gt; &#39;'],
    ['invalid entities unchanged', page('AT&T &nonsense; &#0; &#99999999;'), 'AT&T &nonsense; &#0; &#99999999;'],
    ['the text before an element without an end', page('Away<style>p {'), 'Away'],
  ])('contains %s', (_, html, text) => {
    expect(visibleText(html)).toBe(text)
  })

  test('is read within the time limit, whatever it contains', () => {
    for (const piece of ['<', '<!--', '<style', '<p ', '&#', '</style', ' '])
      expect(visibleText(piece.repeat(300_000)).length).toBeLessThanOrEqual(600_000)
  })

  test('equals the text that was set, in all scripts', async () => {
    const automaticReply = `Grüße, l'équipe – “Aurora” …  <b>&amp;</b>\n😀 €`
    const input = await runMailbox(contoso.tenant, wholeMailbox({ details: { automaticReply } }))
    const check = await contoso.tenant.mailboxSteps['ready-check'](input)
    expect(Object(check).checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
  })
})
