import { rename } from 'node:fs/promises'
import { fill } from '../../../client/command-line/terminal.ts'
import { TenantError } from '../../../core/index.ts'
import { createSignIn } from '../../../microsoft365/wire/index.ts'
import { type CertificateFile, isCredentialOf, newCertificate, readCertificate } from '../certificate-file.ts'
import { isLong, nextWait, TooEarly } from '../graph.ts'
import { SetupProblem } from '../problem.ts'
import { findRegistration, type Registration } from '../registrations.ts'
import { applicationRoles } from '../roles.ts'
import { writePrivate } from '../settings-file.ts'
import { type Change, defineStep, type Setup } from '../step.ts'
import texts from '../strings.json' with { type: 'json' }
import { isLasting } from './secret.ts'

interface Found {
  readonly service: Registration | undefined
  /** The certificate that the service uses, and its replacement. */
  readonly current: CertificateFile | undefined
  readonly next: CertificateFile | undefined
}

interface CertificateChange extends Change {
  readonly kind: 'create' | 'upload' | 'use' | 'clean'
  readonly certificate?: CertificateFile | undefined
}

const pathOf = ({ settings }: Setup): string =>
  settings.get('CLIENT_CERTIFICATE_PATH') ?? settings.beside('certificate.pem')
const nextPathOf = (setup: Setup): string => `${pathOf(setup)}.next`

/**
 * The service's certificate. A new certificate stays in a separate file until a sign-in with it has succeeded, so that the
 * service always has a valid certificate.
 */
export const certificateStep = defineStep<Found, CertificateChange>({
  id: 'certificate',
  group: 'credentials',
  roles: applicationRoles,
  scope: 'Application.ReadWrite.All',
  async find(setup) {
    const password = setup.settings.get('CLIENT_CERTIFICATE_PASSWORD')
    const [current, next] = await Promise.all([usable(pathOf(setup), password), usable(nextPathOf(setup), password)])
    return { service: await findRegistration(setup, 'service'), current, next }
  },
  changes({ service, current, next }, { options, now, settings }) {
    const credentials = service?.keyCredentials ?? []
    const isKnown = (one: CertificateFile) => credentials.some((credential) => isCredentialOf(one, credential))
    const expired = credentials.filter(({ endDateTime }) => endDateTime && new Date(endDateTime) <= now)
    const clean: CertificateChange[] =
      expired.length === 0 ? [] : [{ kind: 'clean', text: fill(texts.certificate.clean, { count: expired.length }) }]
    const upload = (certificate?: CertificateFile): CertificateChange => ({
      ...{ kind: 'upload', text: texts.certificate.upload, renews: true, certificate },
    })
    const use: CertificateChange = { kind: 'use', text: texts.certificate.use, renews: true, certificate: next }
    if (current && isLasting(current.startsAt, current.endsAt, now) && !next) {
      const isNamed = settings['CLIENT_CERTIFICATE_PATH'] !== undefined
      return [...(isKnown(current) ? [] : [upload(current)]), ...(isNamed ? [] : [use]), ...clean]
    }
    // A certificate that was refused because of its lifetime is created again with the lifetime from the options.
    const longest = options.certificateDays * 24 * 3600 * 1000
    const isGood =
      next &&
      isLasting(next.startsAt, next.endsAt, now) &&
      (isKnown(next) || next.endsAt.getTime() - now.getTime() <= longest)
    const text = fill(current ? texts.certificate.renew : texts.certificate.create, { days: options.certificateDays })
    if (!isGood) return [{ kind: 'create', text, renews: true }, upload(), use, ...clean]
    return [...(isKnown(next) ? [] : [upload(next)]), use, ...clean]
  },
  async apply(setup, { kind, certificate }, { service }) {
    const { settings, options, names, graph } = setup
    if (kind === 'create') {
      const password = settings.get('CLIENT_CERTIFICATE_PASSWORD')
      const pem = await newCertificate(names.title('service'), options.now(), options.certificateDays, password)
      return writePrivate(nextPathOf(setup), pem)
    }
    if (!service) throw new TooEarly()
    if (kind === 'use') {
      if (certificate) {
        await tryOut(setup, service.appId, certificate)
        await rename(nextPathOf(setup), pathOf(setup))
      }
      return settings.set({ CLIENT_CERTIFICATE_PATH: pathOf(setup) })
    }
    const now = options.now()
    const kept = service.keyCredentials.filter(({ endDateTime }) => !endDateTime || new Date(endDateTime) > now)
    const added = kind === 'upload' && certificate ? [credentialOf(certificate, names.title('service'))] : []
    await graph.send('PATCH', `/applications/${service.id}`, { body: { keyCredentials: [...kept, ...added] } })
  },
})

/** Reads a certificate. Throws if the file cannot be used, because it may belong to another system. */
async function usable(path: string, password: string | undefined): Promise<CertificateFile | undefined> {
  try {
    return await readCertificate(path, password)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new SetupProblem(fill(texts.certificate.unusable, { path }), why)
  }
}

const credentialOf = ({ publicPart, startsAt, endsAt }: CertificateFile, displayName: string) => ({
  ...{ type: 'AsymmetricX509Cert', usage: 'Verify', key: publicPart, displayName },
  ...{ startDateTime: startsAt.toISOString(), endDateTime: endsAt.toISOString() },
})

/** Signs in with a certificate. Microsoft needs up to two minutes until it knows a new certificate everywhere. */
async function tryOut(setup: Setup, clientId: string, { client }: CertificateFile): Promise<void> {
  const { tenantId, loginUrl, fetch, graphResource, options } = setup
  const signIn = createSignIn({ tenantId, clientId, certificate: client, loginUrl, fetch })
  for (let waited = 0; ; ) {
    try {
      await signIn.token(graphResource, { fresh: true })
      return
    } catch (error) {
      if (!(error instanceof TenantError)) throw error
      if (waited >= options.patience) throw new SetupProblem(texts.certificate.refused, error.message)
      const wait = nextWait(waited)
      if (isLong(waited, wait)) setup.note(texts.certificate.waiting)
      await setup.pause(wait)
      waited += wait
    }
  }
}
