import type { User } from '@microsoft/microsoft-graph-types'
import { expect, it } from 'vitest'
import { fieldsOf, type GroupBody, type InstallationBody } from '../../src/microsoft365/wire/index.ts'

it('Graph bodies and $select lists with a misspelled property do not compile', () => {
  const group = { displayName: 'Apollo', mailNickname: 'apollo', groupTypes: [], mailEnabled: false }
  // @ts-expect-error: `securityEnabled` is misspelled.
  const required: GroupBody = { ...group, securityEnable: true }
  // @ts-expect-error: `description` is misspelled.
  const optional = { ...group, securityEnabled: true, descripton: 'To the moon' } satisfies GroupBody
  // @ts-expect-error: `teamsApp@odata.bind` is misspelled.
  const bound: InstallationBody = { 'teamApp@odata.bind': 'https://graph.microsoft.com/v1.0/appCatalogs/teamsApps/1' }
  // @ts-expect-error: `accountEnabled` is misspelled.
  const fields = fieldsOf<User>('id', 'acountEnabled')
  expect([required, optional, bound, fields]).toHaveLength(4)
  expect(fieldsOf<User>('id', 'accountEnabled')).toBe('id,accountEnabled')
})
