import { findPerson, type Mailbox, type Tenant, updateMailbox, upnOf } from '../tenant/index.ts'
import { type Cmdlet, changedList, only, textOf } from './parameters.ts'
import { settledMailbox } from './recipients.ts'
import { failLimit, notFound } from './wire.ts'

const texts = [
  ...['StreetAddress', 'Office', 'Company', 'PostalCode', 'City', 'StateOrProvince', 'CountryOrRegion', 'Phone'],
  ...['MobilePhone', 'HomePhone', 'Fax', 'Department', 'Notes', 'Title', 'FirstName', 'LastName', 'WebPage'],
]
const lists = ['OtherTelephone', 'OtherHomePhone', 'OtherFax', 'PostOfficeBox']

/** Set-User and Get-User: the address-book entry of a mailbox's account. A person's entry is read-only. */
export function userCmdlets(tenant: Tenant): readonly Cmdlet[] {
  return [
    {
      name: 'Set-User',
      takes: ['Identity', 'DisplayName', 'Manager', ...texts, ...lists],
      run: (parameters) => {
        const identity = textOf(parameters, 'Identity') ?? ''
        if (findPerson(identity)) failLimit('changes to people by Set-User')
        const mailbox = settledMailbox(tenant, identity)
        const { user, displayName } = mailbox.doc
        const changed = lists
          .filter((name) => name in parameters)
          .map((name) => [name, changedList(parameters, name, textsOf(user[name]))])
        const manager = textOf(parameters, 'Manager')
        updateMailbox(tenant, mailbox, {
          displayName: textOf(parameters, 'DisplayName') ?? displayName,
          user: {
            ...user,
            ...only(parameters, texts),
            ...Object.fromEntries(changed),
            ...(manager === undefined ? {} : { Manager: managerName(manager) }),
          },
        })
        return { value: [] }
      },
    },
    {
      name: 'Get-User',
      takes: ['Identity'],
      run: (parameters) => {
        const identity = textOf(parameters, 'Identity')
        if (identity === undefined) return failLimit('Get-User without Identity')
        return { value: [personDoc(identity) ?? userDoc(settledMailbox(tenant, identity))] }
      },
    },
  ]
}

const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

const managerName = (identity: string): string =>
  identity === '' ? '' : (findPerson(identity)?.displayName ?? notFound(identity))

function userDoc(mailbox: Mailbox): Record<string, unknown> {
  const { user, displayName } = mailbox.doc
  return {
    Identity: mailbox.name,
    Name: mailbox.name,
    DisplayName: displayName,
    Guid: mailbox.guid,
    ExternalDirectoryObjectId: mailbox.id,
    UserPrincipalName: upnOf(mailbox),
    WindowsEmailAddress: mailbox.addresses[0],
    RecipientType: 'UserMailbox',
    RecipientTypeDetails: mailbox.type,
    AccountDisabled: !mailbox.accountEnabled,
    Manager: user['Manager'] || null,
    ...Object.fromEntries(texts.map((name) => [name, user[name] ?? ''])),
    CountryOrRegion: user['CountryOrRegion'] || null,
    ...Object.fromEntries(lists.map((name) => [name, user[name] ?? []])),
  }
}

function personDoc(identity: string): Record<string, unknown> | undefined {
  const person = findPerson(identity)
  return (
    person && {
      Identity: person.displayName,
      Name: person.displayName,
      DisplayName: person.displayName,
      ExternalDirectoryObjectId: person.id,
      UserPrincipalName: person.userPrincipalName,
      RecipientType: person.hasMailbox ? 'UserMailbox' : 'User',
      RecipientTypeDetails: person.hasMailbox ? 'UserMailbox' : 'User',
      AccountDisabled: false,
      Title: person.jobTitle,
      Department: person.department,
      Office: person.officeLocation,
      City: person.city,
      Manager: (person.managerId && findPerson(person.managerId)?.displayName) || null,
    }
  )
}
