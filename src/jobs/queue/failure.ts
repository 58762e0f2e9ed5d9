import type { JobFailure } from './define-job.ts'

/** What is kept of an error: its stack would tell more than the store should. */
export function failureOf(error: unknown): JobFailure {
  const { name, message, value } = (
    typeof error === 'object' && error !== null ? error : { message: String(error) }
  ) as {
    name?: unknown
    message?: unknown
    value?: unknown
  }
  if (message === undefined && value !== undefined) return failureOf(value)
  return { name: String(name ?? 'Error'), message: String(message ?? 'unknown') }
}

/** Whether trying again may help: an error says so itself when not. */
export function isRetryable(error: unknown): boolean {
  return !(typeof error === 'object' && error !== null && 'retryable' in error && error.retryable === false)
}

/** When the other side wants to be asked again, in seconds; 0 = it did not say. */
export function retryAfterSeconds(error: unknown): number {
  if (typeof error !== 'object' || error === null || !('retryAfterSeconds' in error)) return 0
  return typeof error.retryAfterSeconds === 'number' ? error.retryAfterSeconds : 0
}
