import { describe, expect, test } from 'vitest'
import type { MailboxStepInput } from '../../src/core/index.ts'
import { contoso as organisation } from '../../src/simulator/tenant/contoso.ts'
import { mailboxInput, ongoing, runMailbox, wholeMailbox } from '../support/mailbox-steps.ts'
import { dana, kim, omar } from '../support/microsoft365.ts'
import { type TestTenant, withTenant } from '../support/simulated-tenant.ts'

const contoso = withTenant()

const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error)
const operations = async (tenant: TestTenant, part: string) =>
  (await tenant.calls()).map(({ operation }) => operation).filter((one) => one.includes(part))

describe('access', () => {
  const made = async (change: Parameters<typeof wholeMailbox>[0]) =>
    runMailbox(contoso.tenant, wholeMailbox(change), ['create-mailbox'])
  const grant = (input: MailboxStepInput) => contoso.tenant.mailboxSteps['grant-access'](input)

  test('that a person has already is not granted again', async () => {
    const input = await made({})
    await contoso.cmdlet('Add-MailboxPermission', {
      Identity: input.address,
      User: dana.id,
      AccessRights: ['FullAccess'],
    })
    await contoso.forgetCalls()
    await grant(input)
    await grant(input)
    const adding = (await contoso.calls()).map(({ operation }) => operation).filter((one) => one.includes('.add-'))
    expect(adding).toEqual(['exchange.add-recipientpermission'])
    const entries = await contoso.found('Get-MailboxPermission', { Identity: input.address })
    expect(entries.filter(({ User }) => User === dana.userPrincipalName)).toHaveLength(1)
  })

  test("is granted by the person's id, whatever name the request contains", async () => {
    const input = await made({
      access: [{ person: { ...dana, userPrincipalName: 'kim@contoso.example' }, level: 'SendAs' }],
    })
    await grant(input)
    const trustees = await contoso.found('Get-RecipientPermission', { Identity: input.address })
    expect(trustees.map(({ Trustee }) => Trustee)).toContain(dana.userPrincipalName)
    expect(trustees.map(({ Trustee }) => Trustee)).not.toContain(kim.userPrincipalName)
  })

  test('for a person who has left the directory stops the request and names the person', async () => {
    const person = { ...dana, id: '99999999-aaaa-4aaa-8aaa-000000000001', displayName: 'Somebody Gone' }
    const failure = await failureOf(grant(await made({ access: [{ person, level: 'FullAccess' }] })))
    expect(failure).toMatchObject({ code: 'person-not-found', retryable: false })
    expect(String(failure)).toContain('Somebody Gone')
  })
})

const contosoPerson = (name: string) => {
  const found = organisation.people.find(({ displayName }) => displayName === name)
  if (!found) throw new Error(`Contoso has no ${name}.`)
  const { id, displayName, userPrincipalName } = found
  return { id, displayName, userPrincipalName }
}

describe.each(['userPrincipalName', 'address', 'objectId'] as const)('where Exchange shows people by %s', (shownAs) => {
  const tenant = withTenant({ exchange: { trusteesShownAs: shownAs } })
  // Her primary address differs from her sign-in name.
  const huelya = contosoPerson('Hülya Demir')

  test('access is granted once, and the ready check finds it as requested', async () => {
    const input = wholeMailbox({
      access: [
        { person: huelya, level: 'FullAccess' },
        { person: omar, level: 'FullAccess' },
        { person: { ...huelya, displayName: 'As she was called' }, level: 'SendAs' },
      ],
    })
    const made = await runMailbox(tenant.tenant, input)
    const request = ongoing(tenant.tenant, made)
    await tenant.forgetCalls()
    expect(await request.take('grant-access')).toMatchObject({ done: true })
    expect(await operations(tenant, '.add-')).toEqual([])
    const { checks } = Object(await request.take('ready-check'))
    expect(checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
  })

  test('access is not granted to another person with the same name', async () => {
    const namesake = { ...dana, displayName: huelya.displayName }
    const input = wholeMailbox({ access: [{ person: huelya, level: 'SendAs' }] })
    const made = await runMailbox(tenant.tenant, input)
    const other = { ...made, access: [{ person: namesake, level: 'SendAs' as const }] }
    const { checks } = Object(await tenant.tenant.mailboxSteps['ready-check'](other))
    expect(checks).toContainEqual(
      expect.objectContaining({ name: 'sendAs', ok: false, detail: 'Hülya Demir is missing' }),
    )
  })
})

describe('access for many people', () => {
  const busy = withTenant({}, { workSeconds: 0 })
  const people = organisation.people.filter(({ hasMailbox }) => hasMailbox)
  const access = people.map((person, index) => ({
    person,
    level: index % 2 === 0 ? ('FullAccess' as const) : ('SendAs' as const),
  }))

  test('continues in each run until all people have it', async () => {
    const request = ongoing(busy.tenant, await runMailbox(busy.tenant, mailboxInput(), ['create-mailbox']))
    const five = { ...request.input, access: access.slice(0, 5) }
    const more = ongoing(busy.tenant, five)
    for (let count = 1; count < 5; count += 1)
      expect(await more.take('grant-access')).toEqual({ done: false, retryAfterSeconds: 1 })
    expect(await more.take('grant-access')).toMatchObject({ done: true })
    expect(await operations(busy, '.add-')).toHaveLength(5)
  })

  test('looks up their names with a few calls, once for each step', async () => {
    const input = await runMailbox(contoso.tenant, wholeMailbox({ access }), ['create-mailbox', 'block-sign-in'])
    for (const step of ['grant-access', 'ready-check'] as const) {
      await contoso.forgetCalls()
      await runMailbox(contoso.tenant, input, [step])
      expect(await operations(contoso, 'graph.users.list')).toHaveLength(Math.ceil(people.length / 15))
    }
    expect(await operations(contoso, 'permission')).toHaveLength(2)
  })

  test('stops the request for a person without a mailbox and names the person', async () => {
    const input = await runMailbox(contoso.tenant, mailboxInput(), ['create-mailbox'])
    const withMax = { ...input, access: [{ person: contosoPerson('Max Frei'), level: 'SendAs' as const }] }
    const failure = await failureOf(contoso.tenant.mailboxSteps['grant-access'](withMax))
    expect(failure).toMatchObject({ code: 'person-unknown-to-exchange', retryable: false })
    expect(String(failure)).toContain('Max Frei')
  })
})
