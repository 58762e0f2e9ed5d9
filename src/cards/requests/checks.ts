import { z } from 'zod'
import { type Check, isFault, isForMailbox, metadataText, type Request, type RequestState } from '../../core/index.ts'
import { labelName } from '../shared/facts.ts'
import { marks, rowLook } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { problemSentence } from '../shared/reasons.ts'
import { cut, listOf, longest, peopleList, quantityOf, type Viewer } from '../shared/texts.ts'
import { featuresOf, peopleWith, storageOf } from './request-facts.ts'

/** A result of the ready check. `detail`: the value that was found instead, for admins. */
export const checkRow = z.strictObject({
  text: z.string(),
  look: rowLook,
  detail: z.string(),
})
export type CheckRow = z.output<typeof checkRow>

/** The most important checks first: what people requested, then the defaults of a mailbox. */
const order: readonly Check['name'][] = [
  'siteOpens',
  'owners',
  'label',
  'fullAccess',
  'sendAs',
  'place',
  'booking',
  'capacity',
  'automaticReply',
  'alias',
  'contact',
  'visibility',
  'address',
  'mailboxType',
  'customAttributes',
  'signInBlocked',
]

/** The results of the ready check, failed ones first. `most`: characters of a value or a detail. */
export function checkRows(
  request: Request,
  { isAdmin = false }: Pick<Viewer, 'isAdmin'>,
  most: number = longest.text,
): CheckRow[] {
  return request.checks
    .toSorted((one, other) => Number(one.ok) - Number(other.ok) || order.indexOf(one.name) - order.indexOf(other.name))
    .map((check) => ({
      text: isLate(check)
        ? format(strings.checks.notVisibleYet, { values: cut(placeValues(request), most) })
        : format(strings.check[check.name][check.ok ? 'passed' : 'failed'], {
            value: cut(askedFor(request, check.name), most),
          }),
      look: check.ok ? marks.good : isLate(check) ? marks.attention : marks.wrong,
      detail: isAdmin && !check.ok ? cut(problemSentence(check), most) : '',
    }))
}

/** All checks of a failed request; of a succeeded one only warnings. */
export function checkRowsOf(request: Request, state: RequestState, viewer: Viewer, most?: number): CheckRow[] {
  if (state === 'failed') return checkRows(request, viewer, most)
  return state === 'succeeded' ? checkRows(request, viewer, most).filter(({ look }) => look.mark !== '✓') : []
}

/** Whether the tenant has accepted the values and does not show them yet. Exchange does so with the places of rooms. */
const isLate = (check: Check): boolean => !check.ok && !isFault(check)

/** The names of the values that a room's place has. */
function placeValues(request: Request): string {
  if (!isForMailbox(request)) return ''
  const { details } = request
  const texts = strings.checks.placeValues
  const address = [details.streetAddress, details.postalCode, details.city, details.state, details.country]
  const devices = [details.audioDeviceName, details.displayDeviceName, details.videoDeviceName]
  const features = [details.tags, details.roomMailboxMetadata, details.isWheelChairAccessible]
  const isGiven = (values: readonly unknown[]) => values.some((value) => value !== undefined)
  return listOf(
    [
      ...(isGiven(address) ? [texts.address] : []),
      ...(isGiven([details.phone]) ? [texts.phone] : []),
      ...(isGiven([details.metadata['seats']]) ? [texts.seats] : []),
      ...(isGiven(devices) ? [texts.devices] : []),
      ...(isGiven(features) ? [texts.features] : []),
    ],
    'and',
  )
}

/** The row of a site's security group. */
export function groupRow(group: string): CheckRow[] {
  if (group === '') return []
  const text = format(strings.check.groupFound.passed, { value: cut(group, longest.title) })
  return [{ text, look: marks.good, detail: '' }]
}

/** The requested value that a check names. */
function askedFor(request: Request, name: Check['name']): string {
  if (!isForMailbox(request)) {
    if (name === 'owners') return peopleList(request.owners, 'and')
    return name === 'label' ? labelName(request) : ''
  }
  const { details } = request
  switch (name) {
    case 'fullAccess':
      return peopleWith(request, 'FullAccess') || strings.checks.asAsked
    case 'sendAs':
      return peopleWith(request, 'SendAs') || strings.checks.asAsked
    case 'capacity':
      return storageOf(details)
    case 'alias':
      return request.aliasAddress
    case 'visibility':
      return strings.toggle.hideFromGAL[`${details.hideFromGAL ?? false}`]
    case 'mailboxType':
      return strings.kind[request.kind]
    case 'place':
      return placeOf(request.details)
    default:
      return ''
  }
}

function placeOf(details: Parameters<typeof featuresOf>[0]): string {
  const seats = metadataText(details.metadata['seats'])
  const devices = [details.audioDeviceName, details.displayDeviceName, details.videoDeviceName]
  const features = featuresOf(details)
  const values = [
    ...(seats === '' ? [] : [format(strings.facts.seats, { count: quantityOf(seats) })]),
    ...(features === strings.facts.none || features === '' ? [] : [features]),
    ...devices.flatMap((device) => device ?? []),
  ]
  return values.length > 0 ? listOf(values, 'unit') : strings.checks.asAsked
}
