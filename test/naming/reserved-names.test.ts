import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { reasonOfIssue, templateWithin } from '../../src/core/index.ts'
import { reservedFor, reservedIn } from '../../src/core/templates/refused-names.ts'
import { actorOf, asMailbox, asSite, kim, tenantWith, withCore } from '../support/core.ts'
import { named, refusal, shownFaults, textOf } from '../support/refusal.ts'
import { seed } from '../support/seed.ts'

const asKim = actorOf(kim)
/** Examples from the list of each purpose. */
const reserved = [
  ...['admin', 'administrator', 'webmaster', 'hostmaster', 'postmaster', 'root', 'security', 'abuse', 'noc'],
  ...[
    'ssladmin',
    'sslwebmaster',
    'dmarc',
    'dmarcreports',
    'mailerdaemon',
    'noreply',
    'sysadmin',
    'pki',
    'autodiscover',
  ],
]
/** Names that people request for good reasons. */
const business = ['info', 'sales', 'support', 'marketing', 'news', 'it', 'help', 'registrar', 'certification']
const separators = fc.constantFrom('', '.', '-', '_')
const separated = fc
  .tuple(fc.constantFrom(...reserved), fc.array(separators, { minLength: 20, maxLength: 20 }))
  .map(([name, between]) => [...name].map((letter, at) => (at === 0 ? '' : (between[at] ?? '')) + letter).join(''))

describe('a reserved name', () => {
  it('is recognised in any case, width and accents, and with any dots, hyphens and underscores', () => {
    const wide = (name: string) =>
      name.replace(/[a-z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0))
    const accented = (name: string) => name.replace(/[aeou]/g, (letter) => `${letter}\u0301`)
    fc.assert(
      fc.property(separated, (name) => {
        for (const one of [name, name.toUpperCase(), wide(name), accented(name)])
          expect(reservedFor(one), one).toBeDefined()
      }),
      { seed },
    )
  })

  it('is not reserved with a letter or digit before or after it, except names for certificates', () => {
    const open = reserved.filter((name) => !/^ssl/.test(name))
    fc.assert(
      fc.property(fc.constantFrom(...open), fc.stringMatching(/^[xyz0-9]{1,8}$/), (name, more) => {
        expect([reservedFor(`${more}-${name}`), reservedFor(`${name}${more}`)]).toEqual([undefined, undefined])
      }),
      { seed },
    )
    expect(['sslovenia', 'dmarc-rua', 'd.marco'].map(reservedFor)).toEqual([...['certificates', 'mail'], undefined])
  })

  it('is never one of the common business names', () => {
    expect(business.filter((name) => reservedFor(name))).toEqual([])
  })

  it('can be allowed in any spelling, which allows no other name', () => {
    fc.assert(
      fc.property(separated, separated, (allowed, name) => {
        const same = reservedIn({ allowReservedNames: [allowed] }, allowed)
        expect(same).toBeUndefined()
        const strip = (text: string) => text.replace(/[._-]/g, '')
        if (strip(allowed) !== strip(name)) expect(reservedIn({ allowReservedNames: [allowed] }, name)).toBeDefined()
      }),
      { seed },
    )
  })
})

describe('a request for a reserved name', () => {
  const core = withCore()
  const mailbox = async (more: object, template: object = {}) => {
    const { id: templateId } = await core.template({ kind: 'sharedMailbox', ...template })
    return { templateId, displayName: 'Mail', name: 'mail', ...more }
  }
  const site = async (more: object, template: object = {}) => {
    const { id: templateId } = await core.template(template)
    return { templateId, displayName: 'Site', ...more }
  }
  const faultsOf = async (submit: () => Promise<unknown>) => (await refusal(submit)).faults
  const ofMailbox = async (body: object) =>
    named(await faultsOf(() => core.provisioning.submitMailbox(asKim, { body })))
  const ofSite = async (body: object) => named(await faultsOf(() => core.provisioning.submitSite(asKim, { body })))

  it('is refused with the purpose of the name, a free name and the remedy', async () => {
    const body = await mailbox({ name: 'Post.Master' })
    core.world.taken.add('post.master-shared@contoso.example')
    expect(shownFaults(await faultsOf(() => core.provisioning.submitMailbox(asKim, { body })))).toEqual([
      {
        pointer: '/name',
        code: 'reserved-name',
        detail:
          'post.master is reserved for mail administration. Choose another name, such as post.master-shared-2. An admin can add a template that allows this name.',
        suggestion: 'post.master-shared-2',
      },
    ])
  })

  it('is refused for a mailbox name, an additional address and a site address, typed or derived', async () => {
    expect(await ofMailbox(await mailbox({ alias: 'no_reply@contoso-labs.example' }))).toEqual(['/alias reserved-name'])
    expect(await ofSite(await site({ alias: 'Host_Master' }))).toEqual(['/alias reserved-name'])
    expect(await ofSite(await site({ displayName: 'Sécurity' }))).toEqual(['/alias reserved-name'])
    const hidden = { kind: 'roomMailbox', properties: { name: { shown: false } } }
    const { name: _, ...unnamed } = await mailbox({ displayName: 'No reply' }, hidden)
    expect(await ofMailbox(unnamed)).toEqual(['/displayName reserved-name'])
  })

  it('is checked by the address from the policy', async () => {
    const room = await mailbox({ name: 'admin' }, { kind: 'roomMailbox', naming: { prefix: 'room-' } })
    expect(asMailbox(await core.provisioning.submitMailbox(asKim, { body: room })).address).toBe(
      'room-admin@contoso.example',
    )
    const naming = { name: { pattern: 'web{input}' }, alias: { pattern: 'host{input}' } }
    const desk = await mailbox({ name: 'master', alias: 'master' }, { naming })
    expect(await ofMailbox(desk)).toEqual(['/name reserved-name', '/alias reserved-name'])
    expect(await ofSite(await site({ alias: 'min' }, { naming: { alias: { pattern: 'ad{input}' } } }))).toEqual([
      '/alias reserved-name',
    ])
    const counted = { naming: { alias: { pattern: '{input}{counter}' } } }
    expect(
      asSite(await core.provisioning.submitSite(asKim, { body: await site({ alias: 'admin' }, counted) })).alias,
    ).toBe('admin1')
  })

  it('is accepted with a template that allows this name, and only this one', async () => {
    const template = { naming: { allowReservedNames: ['post-master', 'admin'] } }
    const allowed = await mailbox({ name: 'postmaster', alias: 'admin' }, template)
    const { address, aliasAddress } = asMailbox(await core.provisioning.submitMailbox(asKim, { body: allowed }))
    expect([address, aliasAddress]).toEqual(['postmaster@contoso.example', 'admin@contoso.example'])
    expect(await ofMailbox(await mailbox({ name: 'hostmaster' }, template))).toEqual(['/name reserved-name'])
  })

  it('fails before anything is created, if a version without reserved names accepted it', async () => {
    const body = await site({ displayName: 'Root' }, { naming: { allowReservedNames: ['root'] } })
    const stored = await core.provisioning.submitSite(asKim, { body })
    const { naming } = await core.template({})
    await core.ports.requests.update({
      ...stored,
      template: { ...stored.template, naming },
      version: stored.version + 1,
    })
    const creating: string[] = []
    const tenant = tenantWith({
      'create-site': async ({ alias }) => Promise.reject(new Error(`${creating.push(alias)}`)),
    })
    const run = { lastAttempt: false, signal: new AbortController().signal }
    await core.with({ tenant }).system.provision(stored.requestId, run)
    const { status, problem } = await core.provisioning.readRequest(asKim, { requestId: stored.requestId })
    expect([status, problem?.code, creating]).toEqual(['failed', 'reserved-name', []])
  })
})

describe('a template that allows reserved names', () => {
  it('cannot allow names that are not reserved', () => {
    const written = (allowReservedNames: string[]) =>
      templateWithin([]).safeParse({
        ...{ id: crypto.randomUUID(), version: 1, kind: 'sharedMailbox', name: 'Mail administration' },
        naming: { prefix: '', suffix: '', allowReservedNames },
      })
    expect(written(['postmaster', 'ssl-admin']).success).toBe(true)
    const { error } = written(['postmaster', 'sales'])
    const faults = (error?.issues ?? []).map((one) => [one.path, one.code === 'custom' && textOf(reasonOfIssue(one))])
    expect(faults).toEqual([
      [['naming', 'allowReservedNames', '1'], 'sales is not reserved, so every template allows it. Leave it out.'],
    ])
  })
})
