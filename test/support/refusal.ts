import { reasonText } from '../../src/cards/index.ts'
import { asWritten, type Fault, type FaultCode, fault, ProvisioningError, type Reason } from '../../src/core/index.ts'

/** The code of a refusal; anything else that was thrown is thrown on. */
export function refusalOf(error: unknown): string {
  if (error instanceof ProvisioningError) return error.code
  throw error
}

/** The refusal that work ends in. Fails when it succeeds. */
export async function refusal(work: () => unknown): Promise<ProvisioningError> {
  try {
    await work()
  } catch (error) {
    if (error instanceof ProvisioningError) return error
    throw error
  }
  throw new Error('this was not refused')
}

/** Faults as `pointer code`, in their order. */
export const named = (faults: readonly Fault[]): string[] => faults.map(({ pointer, code }) => `${pointer} ${code}`)

/** A reason's sentence; `''` without a reason. */
export const textOf = (reason: Reason | undefined): string => (reason ? reasonText(reason) : '')

/** The sentence of a fault; `''` when there is none. */
export const detailOf = (fault: Fault | undefined): string => textOf(fault?.reason)

/** Faults as the API shows them: with their sentences. */
export const shownFaults = (faults: readonly Fault[]) =>
  faults.map(({ reason, ...fault }) => ({ ...fault, detail: reasonText(reason) }))
/** The sentence of a refusal. */
export const sentenceOf = ({ reason }: ProvisioningError): string => reasonText(reason)

/** A fault with a sentence of its own. */
export const faultSaying = (pointer: string, code: FaultCode, text: string, suggestion?: string): Fault =>
  fault(pointer, code, asWritten(text), suggestion)
