import { errors, type JSONWebKeySet, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { z } from 'zod'
import { type Connector, connectors, isConnector } from './connectors.ts'

const text = (longest: number) => z.string().max(longest)
/** Optional; null counts as missing. */
const optional = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined)
const nameless = (schema: z.ZodString) => schema.nullish().transform((value) => value ?? '')

/** The parts of an incoming activity that the guard checks before any other code reads them. */
const incoming = z.looseObject({
  type: text(64).min(1),
  id: optional(text(512)),
  name: optional(text(512)),
  action: optional(text(64)),
  channelId: text(64).min(1),
  serviceUrl: z.url({ protocol: /^https?$/ }).max(512),
  from: z.looseObject({ id: text(512), aadObjectId: optional(text(64)), name: nameless(text(512)) }),
  recipient: z.looseObject({ id: text(512), name: nameless(text(512)) }),
  conversation: z.looseObject({
    id: text(512).min(1),
    tenantId: optional(text(64)),
    conversationType: nameless(text(64)),
    isGroup: z
      .boolean()
      .nullish()
      .transform((value) => value ?? false),
    name: nameless(text(512)),
  }),
  channelData: optional(z.looseObject({ tenant: optional(z.looseObject({ id: optional(text(64)) })) })),
  text: optional(z.string()),
  replyToId: optional(text(512)),
  locale: optional(text(64)),
  localTimezone: optional(text(64)),
  timestamp: optional(text(64)),
  localTimestamp: optional(text(64)),
})
export type IncomingActivity = z.output<typeof incoming>

export interface GuardOptions {
  /** The bot's app id; undefined only in local mode, which listens on loopback and requires no token. */
  readonly appId: string | undefined
  readonly tenantId: string
  /** Finds the Bot connector's key for a token. If it has no keys, it throws an error that is not one of jose's. */
  readonly keys: ConnectorKeys
  /** The Bot connector of the organisation's cloud. Default: public. */
  readonly connector?: Connector | undefined
}
export type ConnectorKeys = JWTVerifyGetKey & { readonly jwks: () => JSONWebKeySet | undefined }

interface Refused {
  readonly ok: false
  readonly status: 400 | 401 | 403 | 503
  readonly message: string
  /** For the log; the caller gets the message only. */
  readonly reason: string
}
/** The result of the token check, before the activity is read. */
export type Admission = { readonly ok: true; readonly claims: JWTPayload; readonly keyId: string | undefined } | Refused
export type Verdict = { readonly ok: true; readonly activity: IncomingActivity; readonly claims: JWTPayload } | Refused

/** The Bot connector's own tolerance, in seconds (reliability F9). */
const skewSeconds = 300

/**
 * Checks an activity before botbuilder handles it. The SDK alone also accepts tokens that any app of a tenant can get
 * for the bot (reliability F1), skips the serviceUrl check if the claim is absent (F3), stores each forged tenant (F2)
 * and answers 500 with internal text (F4). The token is checked first, so that no body is read without a valid token
 * (F6).
 */
export function createGuard({ appId, tenantId, keys, connector = connectors.public }: GuardOptions) {
  return {
    /** Checks the token alone. Local mode has no tokens and admits everybody. */
    async admit(authorizations: readonly string[]): Promise<Admission> {
      if (appId === undefined) return { ok: true, claims: {}, keyId: undefined }
      const [authorization = ''] = authorizations
      // With two tokens, a proxy may have checked the other one.
      if (authorizations.length > 1) return denied('more than one Authorization header')
      const token = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/.exec(authorization)?.[1]
      if (token === undefined) return denied('no bearer token')
      try {
        const { payload, protectedHeader } = await jwtVerify(token, keys, {
          issuer: connector.issuer,
          audience: appId,
          algorithms: ['RS256'],
          clockTolerance: skewSeconds,
          requiredClaims: ['exp', 'serviceurl'],
        })
        return { ok: true, claims: payload, keyId: protectedHeader.kid }
      } catch (error) {
        // Only jose's own errors mean an invalid token. A 401 for another error would blame the token of Teams.
        const reason = error instanceof Error ? error.message : String(error)
        return error instanceof errors.JOSEError ? denied(reason) : { ...unjudged, reason }
      }
    },
    /** Checks the activity that came with an admitted token. */
    judge(admission: Admission, body: unknown): Verdict {
      if (!admission.ok) return admission
      const parsed = incoming.safeParse(cleaned(body))
      if (!parsed.success) return malformed
      const { claims, keyId } = admission
      if (appId === undefined) return judge(parsed.data, claims)
      if (claims['serviceurl'] !== parsed.data.serviceUrl)
        return denied('the serviceurl claim is not that of the activity')
      const key = keys.jwks()?.keys.find(({ kid }) => kid === keyId)
      if (!endorses(key, parsed.data.channelId)) return denied('the key is not endorsed for this channel')
      return judge(parsed.data, claims)
    },
  }

  function judge(activity: IncomingActivity, claims: JWTPayload): Verdict {
    if (activity.channelId !== 'msteams')
      return {
        ok: false,
        status: 403,
        message: 'This bot speaks on Teams only.',
        reason: `channel ${activity.channelId}`,
      }
    const tenants = [activity.channelData?.tenant?.id, activity.conversation.tenantId].filter((id) => id !== undefined)
    if (tenants.length === 0 || tenants.some((id) => id !== tenantId))
      return {
        ok: false,
        status: 403,
        message: 'This bot serves another organisation.',
        reason: `tenant ${tenants.join(' and ') || 'none'}`,
      }
    if (!isConnector(activity.serviceUrl, appId === undefined, connector))
      return {
        ok: false,
        status: 403,
        message: 'This bot answers to the Bot connector only.',
        reason: `serviceUrl ${activity.serviceUrl}`,
      }
    return { ok: true, activity, claims }
  }
}

const malformed: Refused = {
  ok: false,
  status: 400,
  message: 'This is not a Bot Framework activity.',
  reason: 'malformed activity',
}
const unjudged = { ok: false, status: 503, message: 'The token cannot be checked just now.' } as const
const denied = (reason: string): Refused => ({
  ok: false,
  status: 401,
  message: 'The token is missing or not valid.',
  reason,
})

/**
 * Whether a key may sign for a channel. The connector's keys list their channels; a key without a list may sign for no
 * channel.
 */
function endorses(key: object | undefined, channelId: string): boolean {
  const endorsements: unknown = key && 'endorsements' in key ? key.endorsements : undefined
  return Array.isArray(endorsements) && endorsements.includes(channelId)
}

/**
 * Replaces characters that the store does not accept: U+0000 and half of a surrogate pair. Clients send them after a
 * bad paste, so the text is repaired and not refused.
 */
function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '').toWellFormed()
  if (Array.isArray(value)) return value.map(cleaned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [String(cleaned(key)), cleaned(member)]))
}
