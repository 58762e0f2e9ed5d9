import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { createSignIn, type DeviceCode, type SignIn, SignInError } from '../../src/client/sign-in.ts'
import type { Simulator } from '../../src/simulator/index.ts'
import { answerCode, newHome } from '../support/command-line.ts'
import { ask, kim, temporaryFolder, tenantFor } from '../support/simulator.ts'
import { apiIds, people, scopes } from '../support/teams-user.ts'

const clientId = '0c0ffee0-2222-4222-8222-000000000002'
const { collab, mail } = scopes

async function world(more: { fetch?: typeof fetch } = {}) {
  const dataDir = await temporaryFolder()
  const simulator = await tenantFor({ dataDir })
  const home = newHome()
  const cacheFile = join(home, 'quartermaster', 'tokens.json')
  const options = { loginUrl: simulator.url, tenantId: simulator.tenantId, clientId, cacheFile, ...more }
  return { simulator, dataDir, cacheFile, options, fresh: () => createSignIn(options) }
}

/** Signs in as a person who opens the shown page. */
const signInAs = (session: SignIn, who: keyof typeof people, answer: 'allow' | 'decline' = 'allow') =>
  session.signIn(collab, { show: ({ verificationUri, userCode }) => goTo(verificationUri, userCode, who, answer) })
const goTo = (page: string, code: string, who: keyof typeof people, answer: 'allow' | 'decline') =>
  void answerCode(page, code, who, answer).catch((error: unknown) => {
    throw error
  })

async function calls(simulator: Simulator, operation: string): Promise<number> {
  const { body } = await ask('GET', `${simulator.url}/control/calls?operation=${operation}`)
  return (Array.isArray(body) ? body : body.value).length
}

const problemOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'none',
    (error: unknown) => (error instanceof SignInError ? error.problem : error),
  )

test('a person signs in once with a code on a page; later calls receive a token silently', async () => {
  const { simulator, fresh } = await world()
  const person = await signInAs(fresh(), 'kim')
  expect(person).toMatchObject({ id: kim, displayName: 'Kim Lee', userPrincipalName: 'kim@contoso.example' })
  const tokenCalls = await calls(simulator, 'login.token')
  const token = await fresh().token(collab, person.account)
  expect(decodeJwt(token)).toMatchObject({ oid: kim, scp: 'App.ReadWrite.All', aud: apiIds.collab })
  expect(await calls(simulator, 'login.token')).toBe(tokenCalls)
  expect(await calls(simulator, 'login.devicecode')).toBe(1)
})

test('one sign-in provides tokens for both APIs and the directory', async () => {
  const { simulator, fresh } = await world()
  const { account } = await signInAs(fresh(), 'kim')
  const session = fresh()
  expect(decodeJwt(await session.token(mail, account)).aud).toBe(apiIds.mail)
  const directory = await session.token('https://graph.microsoft.com/Group.Read.All', account)
  expect((await ask('GET', `${simulator.url}/v1.0/groups`, { token: directory })).status).toBe(200)
  expect(await calls(simulator, 'login.devicecode')).toBe(1)
})

test('an expired token is renewed silently', async () => {
  const { simulator, cacheFile, fresh } = await world()
  const { account } = await signInAs(fresh(), 'kim')
  const cache = JSON.parse(readFileSync(cacheFile, 'utf8'))
  for (const token of Object.values<Record<string, string>>(cache.AccessToken)) token['expires_on'] = '1000'
  writeFileSync(cacheFile, JSON.stringify(cache))
  const tokenCalls = await calls(simulator, 'login.token')
  expect(decodeJwt(await fresh().token(collab, account))['oid']).toBe(kim)
  expect(await calls(simulator, 'login.token')).toBe(tokenCalls + 1)
})

test('a refusal and an expired code have different errors', async () => {
  const { dataDir, fresh } = await world()
  expect(await problemOf(signInAs(fresh(), 'kim', 'decline'))).toBe('declined')
  const expire = () => {
    const state = new DatabaseSync(join(dataDir, 'simulator.sqlite'))
    state.exec('update device_codes set expires_at = 0')
    state.close()
  }
  expect(await problemOf(fresh().signIn(collab, { show: expire }))).toBe('expired')
  expect(await problemOf(fresh().token(collab))).toBe('not-signed-in')
})

test('a device that polls too fast waits longer and continues', async () => {
  let slowDowns = 0
  const hurried: typeof fetch = async (url, init) => {
    const polls = String(init?.body ?? '').includes('device_code=')
    if (!polls || slowDowns > 0) return fetch(url, init)
    slowDowns += 1
    return Response.json({ error: 'slow_down', error_description: 'AADSTS70016: Slow down.' }, { status: 400 })
  }
  const { fresh } = await world({ fetch: hurried })
  expect(await signInAs(fresh(), 'kim')).toMatchObject({ id: kim })
  expect(slowDowns).toBe(1)
})

test('a temporary connection error does not end the sign-in while the person types the code', async () => {
  let failed = 0
  const shaky: typeof fetch = async (url, init) => {
    const polls = String(init?.body ?? '').includes('device_code=')
    if (!polls || failed > 0) return fetch(url, init)
    failed += 1
    throw new TypeError('fetch failed')
  }
  const { fresh } = await world({ fetch: shaky })
  expect(await signInAs(fresh(), 'kim')).toMatchObject({ id: kim })
  expect(failed).toBe(1)
})

test('the sign-in ends when it is cancelled, and when the login does not exist', async () => {
  const { options, fresh } = await world()
  const stop = new AbortController()
  const show = (_: DeviceCode) => stop.abort()
  expect(await problemOf(fresh().signIn(collab, { show, signal: stop.signal }))).toBe('cancelled')
  const nowhere = createSignIn({ ...options, loginUrl: 'http://127.0.0.1:1' })
  expect(await problemOf(nowhere.signIn(collab, { show }))).toBe('unreachable')
})

test('an unknown tenant is refused with the error of the login, without its ids and times', async () => {
  const { options } = await world()
  const session = createSignIn({ ...options, tenantId: 'nowhere.example' })
  const error = await session.signIn(collab, { show: () => undefined }).catch((one: unknown) => one)
  expect(error).toMatchObject({ problem: 'refused', description: "AADSTS90002: Tenant 'nowhere.example' not found." })
})

test('only their owner can read the stored tokens', async () => {
  const { cacheFile, fresh } = await world()
  await signInAs(fresh(), 'kim')
  expect(statSync(cacheFile).mode & 0o777).toBe(0o600)
  expect(statSync(join(cacheFile, '..')).mode & 0o777).toBe(0o700)
})

test('two concurrent sign-ins are both stored, and one person can sign out without the other', async () => {
  const { fresh } = await world()
  const [one, other] = await Promise.all([signInAs(fresh(), 'kim'), signInAs(fresh(), 'dana')])
  const session = fresh()
  expect((await session.people()).map(({ displayName }) => displayName).sort()).toEqual(['Dana Fox', 'Kim Lee'])
  expect(decodeJwt(await session.token(collab, other.account))['oid']).toBe(people.dana.id)
  await session.signOut(one.account)
  expect((await fresh().people()).map(({ displayName }) => displayName)).toEqual(['Dana Fox'])
  expect(await problemOf(fresh().token(collab, one.account))).toBe('not-signed-in')
  expect(decodeJwt(await fresh().token(collab))['oid']).toBe(people.dana.id)
})

test('an unreadable cache counts as empty, and the lock of a killed process is taken over', async () => {
  const { cacheFile, fresh } = await world()
  await signInAs(fresh(), 'kim')
  writeFileSync(cacheFile, '{"half')
  writeFileSync(`${cacheFile}.lock`, '')
  const long = new Date(Date.now() - 60_000)
  utimesSync(`${cacheFile}.lock`, long, long)
  expect(await fresh().people()).toEqual([])
  expect(await signInAs(fresh(), 'kim')).toMatchObject({ id: kim })
})
