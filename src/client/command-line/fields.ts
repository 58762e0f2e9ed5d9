import type { MailboxRequest, SiteRequest } from '../index.ts'
import type { OptionSpec } from './define-command.ts'

/** How a flag's value becomes part of a body. `pairs`: `key=value`; `person-pairs`: `<person>=FullAccess`, by sign-in name or user id. */
export interface FieldFlag {
  readonly flag: string
  readonly takes: 'text' | 'number' | 'boolean' | 'list' | 'pairs' | 'person-pairs'
  /** Its place in the body, where it is not a field of its own: `roomMailboxMetadata.hasWhiteboard`. */
  readonly path?: string
}

/** Every field of the API document, and the flag that sets it: a field without one does not compile. */
type FlagsOf<B> = { readonly [F in keyof Required<B>]: FieldFlag | readonly FieldFlag[] }

const text = (flag: string): FieldFlag => ({ flag, takes: 'text' })
const list = (flag: string): FieldFlag => ({ flag, takes: 'list' })
const yesNo = (flag: string, path?: string): FieldFlag => ({ flag, takes: 'boolean', ...(path && { path }) })

export const siteFlags = {
  displayName: text('display-name'),
  templateId: text('template'),
  description: text('description'),
  alias: text('alias'),
  owners: list('owner'),
  labelId: text('label'),
  metadata: { flag: 'metadata', takes: 'pairs' },
} as const satisfies FlagsOf<SiteRequest>

export const mailboxFlags = {
  name: text('name'),
  displayName: text('display-name'),
  templateId: text('template'),
  permissions: { flag: 'permission', takes: 'person-pairs' },
  metadata: { flag: 'metadata', takes: 'pairs' },
  alias: text('alias'),
  domain: text('domain'),
  capacity: { flag: 'capacity', takes: 'number' },
  primaryOwner: text('primary-owner'),
  secondaryOwner: text('secondary-owner'),
  reason: text('reason'),
  notes: text('notes'),
  tags: list('tag'),
  automaticReply: text('automatic-reply'),
  isAllowAutomaticReplyOverride: yesNo('allow-automatic-reply-override'),
  autoMapping: yesNo('auto-mapping'),
  hideFromGAL: yesNo('hide-from-address-list'),
  officeLocation: text('office-location'),
  isWheelChairAccessible: yesNo('wheelchair-accessible'),
  roomMailboxMetadata: [
    yesNo('conference-phone', 'roomMailboxMetadata.hasConferencePhone'),
    yesNo('whiteboard', 'roomMailboxMetadata.hasWhiteboard'),
    yesNo('video-conferencing', 'roomMailboxMetadata.hasVideoConferencing'),
  ],
  audioDeviceName: text('audio-device'),
  displayDeviceName: text('display-device'),
  videoDeviceName: text('video-device'),
  phone: text('phone'),
  businessPhones: list('business-phone'),
  streetAddress: text('street-address'),
  postalCode: text('postal-code'),
  city: text('city'),
  state: text('state'),
  country: text('country'),
  companyName: text('company'),
  department: text('department'),
} as const satisfies FlagsOf<MailboxRequest>

export type FieldFlags = Readonly<Record<string, FieldFlag | readonly FieldFlag[]>>

/** The flags of a body with their place in it. */
export const flagsOf = (fields: FieldFlags): readonly (FieldFlag & { readonly path: string })[] =>
  Object.entries(fields).flatMap(([field, flags]) => [flags].flat().map((one) => ({ path: field, ...one })))

const valueNames = { text: '<text>', number: '<number>', list: '<text>', pairs: '<key>=<value>' } as const

/** The options of a command for these fields; what is yes or no has a flag for each. */
export function optionsOf(fields: FieldFlags): Record<string, OptionSpec> {
  return Object.fromEntries(
    flagsOf(fields).flatMap(({ flag, takes }): [string, OptionSpec][] => {
      if (takes === 'boolean') {
        const no: OptionSpec = { type: 'flag', help: '' }
        return [
          [flag, { type: 'flag' }],
          [`no-${flag}`, no],
        ]
      }
      const value = takes === 'person-pairs' ? '<person>=<access>' : valueNames[takes]
      const type = takes === 'number' ? 'number' : takes === 'text' ? 'text' : 'list'
      return [[flag, { type, value }]]
    }),
  )
}
