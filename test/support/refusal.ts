import { reasonText } from '../../src/cards/index.ts'
import { asWritten, type Fault, type FaultCode, fault, ProvisioningError, type Reason } from '../../src/core/index.ts'

/** Returns the code of a refusal. Throws any other error again. */
export function refusalOf(error: unknown): string {
  if (error instanceof ProvisioningError) return error.code
  throw error
}

/** Returns the refusal of the work. Fails when the work succeeds. */
export async function refusal(work: () => unknown): Promise<ProvisioningError> {
  try {
    await work()
  } catch (error) {
    if (error instanceof ProvisioningError) return error
    throw error
  }
  throw new Error('this was not refused')
}

/** Returns faults as `pointer code`, in their order. */
export const named = (faults: readonly Fault[]): string[] => faults.map(({ pointer, code }) => `${pointer} ${code}`)

/** Returns a reason's sentence; `''` without a reason. */
export const textOf = (reason: Reason | undefined): string => (reason ? reasonText(reason) : '')

/** Returns the sentence of a fault; `''` without a fault. */
export const detailOf = (fault: Fault | undefined): string => textOf(fault?.reason)

/** Returns faults as the API shows them: with their sentences. */
export const shownFaults = (faults: readonly Fault[]) =>
  faults.map(({ reason, ...fault }) => ({ ...fault, detail: reasonText(reason) }))
/** Returns the sentence of a refusal. */
export const sentenceOf = ({ reason }: ProvisioningError): string => reasonText(reason)

/** Creates a fault with its own sentence. */
export const faultSaying = (pointer: string, code: FaultCode, text: string, suggestion?: string): Fault =>
  fault(pointer, code, asWritten(text), suggestion)
