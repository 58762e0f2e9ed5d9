import { z } from 'zod'
import { type Fault, isForMailbox, type Request } from '../../core/index.ts'
import { faultLine, faultsOfForm, partsOf } from '../drafts/form-faults.ts'
import { format, strings } from '../shared/messages.ts'
import type { Viewer } from '../shared/texts.ts'

/** The form for another address, on the status card of a requester whose address was taken during the wait. */
export const addressForm = z.strictObject({
  asks: z.boolean(),
  value: z.string(),
  fault: faultLine,
  help: z.string(),
})

/** The typed address and its faults, when the form comes back. */
export interface TypedAddress {
  readonly address: string
  readonly faults: readonly Fault[]
}

const noForm = { asks: false, value: '', fault: '', help: '' }

/** Shows the form with the suggested address, or with the typed one and its fault. */
export function addressFormView(
  request: Request,
  { id }: Pick<Viewer, 'id'>,
  typed?: TypedAddress,
): z.output<typeof addressForm> {
  const conflict = request.status === 'pendingApproval' ? request.addressConflict : undefined
  if (!conflict || request.requester.id !== id) return noForm
  const { otherFaults, lineOf } = faultsOfForm(typed?.faults ?? [], {
    ids: ['alias', 'name'],
    label: () => strings.status.address.label,
    inputOf: (fault) => partsOf(fault)[0] ?? '',
    resource: isForMailbox(request) ? 'mailbox' : 'site',
  })
  const texts = strings.status.address
  return {
    asks: true,
    value: typed?.address ?? conflict.suggestion,
    fault: lineOf('alias') || lineOf('name') || (otherFaults[0]?.detail ?? ''),
    help: conflict.suggestion === '' ? texts.help : format(texts.suggested, { address: conflict.suggestion }),
  }
}
