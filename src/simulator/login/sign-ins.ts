import { createHash, randomBytes } from 'node:crypto'
import { now, type Row, type Tenant } from '../tenant/index.ts'
import type { Session } from './authorize.ts'

/** A device that waits for a person to sign in on another device. `expiresAt` is milliseconds since 1970. */
export interface DeviceCode {
  readonly deviceCode: string
  readonly userCode: string
  readonly clientId: string
  readonly scope: string
  readonly expiresAt: number
  readonly userId: string | undefined
  readonly declined: 'declined' | 'needsAdmin' | undefined
  readonly used: boolean
}

/** Finds a device by its own code or by the code that a person types (without case, spaces and hyphens). */
export function readDeviceCode(tenant: Tenant, by: 'device_code' | 'user_code', value: string): DeviceCode | undefined {
  const key = by === 'user_code' ? value.toUpperCase().replace(/[^A-Z]/g, '') : value
  const found = tenant.row(`select * from device_codes where ${by} = ?`, key)
  return found && deviceCodeOf(found)
}

function deviceCodeOf(row: Row): DeviceCode {
  return {
    deviceCode: String(row['device_code']),
    userCode: String(row['user_code']),
    clientId: String(row['client_id']),
    scope: String(row['scope']),
    expiresAt: Number(row['expires_at']),
    userId: row['user_id'] === null ? undefined : String(row['user_id']),
    declined: row['declined'] === 1 ? 'declined' : row['declined'] === 2 ? 'needsAdmin' : undefined,
    used: row['used'] === 1,
  }
}

/** The result of a sign-in for a device: the id of the person, or the reason why nobody signed in. */
export type DeviceAnswer = { readonly userId: string } | 'declined' | 'needsAdmin'

/** Stores the answer of the sign-in page. */
export function answerDeviceCode(tenant: Tenant, deviceCode: string, answer: DeviceAnswer): void {
  tenant.run(
    'update device_codes set user_id = ?, declined = ? where device_code = ?',
    typeof answer === 'object' ? answer.userId : null,
    answer === 'declined' ? 1 : answer === 'needsAdmin' ? 2 : 0,
    deviceCode,
  )
}

/** Marks a code as used: a code returns tokens once. */
export function releaseDeviceCode(tenant: Tenant, deviceCode: string): void {
  tenant.run('update device_codes set used = 1 where device_code = ?', deviceCode)
  tenant.run('delete from device_polls where device_code = ?', deviceCode)
}

/** Stores a poll, and returns whether it followed the previous poll within half the interval (seconds). */
export function pollsTooFast(tenant: Tenant, deviceCode: string, interval: number): boolean {
  const last = tenant.row('select at from device_polls where device_code = ?', deviceCode)
  tenant.run('insert or replace into device_polls (device_code, at) values (?, ?)', deviceCode, now())
  return last !== undefined && now() - Number(last['at']) < interval * 500
}

const refreshTokenLife = 90 * 24 * 3600 * 1000
const refreshTokenLifeOfPages = 24 * 3600 * 1000
const digest = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Creates a refresh token (90 days; 24 hours for a web page) and stores only its digest. */
export function keepRefreshToken(tenant: Tenant, session: Session): string {
  const token = `1.${randomBytes(48).toString('base64url')}`
  tenant.run(
    'insert into refresh_tokens (hash, user_id, client_id, scope, expires_at, platform) values (?, ?, ?, ?, ?, ?)',
    digest(token),
    session.userId,
    session.clientId,
    session.scope,
    now() + (session.isPage ? refreshTokenLifeOfPages : refreshTokenLife),
    session.isPage ? 'spa' : null,
  )
  return token
}

/** Returns the session of a refresh token that belongs to this client and has not expired. */
export function personOfRefreshToken(tenant: Tenant, token: string, clientId: string): Session | undefined {
  const row = tenant.row('select * from refresh_tokens where hash = ?', digest(token))
  if (!row || row['client_id'] !== clientId || Number(row['expires_at']) < now()) return undefined
  const isPage = row['platform'] === 'spa'
  return { userId: String(row['user_id']), clientId, scope: String(row['scope']), isPage }
}
