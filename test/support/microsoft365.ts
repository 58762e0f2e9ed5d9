import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Person } from '../../src/core/index.ts'
import { connectMicrosoft365, localCertificate, type Microsoft365Options } from '../../src/microsoft365/index.ts'
import { sendJson } from './http-server.ts'

const tenantId = '0c0ffee0-1111-4111-8111-000000000365'
export const certificate = localCertificate()

const contosoPerson = (number: number, displayName: string, userPrincipalName: string): Person => ({
  id: `11111111-aaaa-4aaa-8aaa-00000000000${number}`,
  displayName,
  userPrincipalName,
})
export const kim = contosoPerson(1, 'Kim Lee', 'kim@contoso.example')
export const dana = contosoPerson(2, 'Dana Fox', 'dana@contoso.example')
export const omar = contosoPerson(3, 'Omar Haddad', 'omar@contoso.example')
export const approversGroup = '22222222-bbbb-4bbb-8bbb-000000000001'
export const confidential = '33333333-cccc-4ccc-8ccc-000000000003'

export type OtherHosts = Microsoft365Options['otherSharePointHosts']

/** Connects to one server that acts as all four parts of Microsoft 365. */
export function connectTo(
  url: string,
  options: Partial<
    Pick<
      Microsoft365Options,
      'log' | 'warn' | 'settleSeconds' | 'workSeconds' | 'teamsAppId' | 'now' | 'otherSharePointHosts'
    >
  > = {},
) {
  return connectMicrosoft365({
    tenantId,
    clientId: '44444444-dddd-4ddd-8ddd-000000000001',
    certificate,
    loginUrl: url,
    directoryUrl: url,
    sharePointUrl: url,
    sharePointAdminUrl: url,
    exchangeUrl: url,
    directoryExtension: 'svc_group',
    settleSeconds: 0,
    fetch,
    ...options,
  })
}

/** Answers the token call of the sign-in. Returns true if the call was one. */
export function answersSignIn(request: IncomingMessage, response: ServerResponse, token = 'token'): boolean {
  if (!request.url?.includes('/oauth2/v2.0/token')) return false
  sendJson(response, 200, { token_type: 'Bearer', expires_in: 3600, ext_expires_in: 3600, access_token: token })
  return true
}
