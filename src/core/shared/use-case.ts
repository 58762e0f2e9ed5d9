import { safeParse, z } from 'zod'
import { type Actor, admit, type Permission } from './access.ts'
import { refuseFields } from './errors.ts'
import type { Settings } from './ports.ts'
import { faultsOf } from './validation.ts'

/** The context of a function that acts for the system: a job or a webhook. */
export interface SystemContext<Ports> {
  readonly ports: Ports
  readonly settings: Settings
}

/** The context of a function that acts for a person or an application. */
export interface Context<Ports> extends SystemContext<Ports> {
  readonly actor: Actor
}

/** An operation of the core for an actor. The permission and the input are checked before `handle` runs. */
export interface UseCase<Ports, Input extends z.ZodType, Output> {
  readonly permission: Permission
  readonly input: Input
  readonly handle: (context: Context<Ports>, input: z.output<Input>) => Promise<Output>
}

/** Returns work that starts now and whose error counts only if its result is awaited. */
export function inAdvance<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined)
  return work
}

/** Returns the schema of an object that the core created and the caller passes back unchanged. */
export const handedBack = <Value extends object>() =>
  z.custom<Value>((value) => typeof value === 'object' && value !== null)

/** A use case with its ports, for bot and routes. An input without required fields can be omitted. */
export type Call<Input extends z.ZodType, Output> = (
  actor: Actor,
  ...input: Record<never, never> extends z.input<Input> ? [input?: z.input<Input>] : [input: z.input<Input>]
) => Promise<Output>

/**
 * Defines an operation of the core for an actor. If the permission depends on one request or batch, `handle` reads the request or
 * batch and calls `authorize`. All other permissions are checked before `handle` runs.
 */
export const defineUseCase = <Ports, Input extends z.ZodType, Output>(
  useCase: UseCase<Ports, Input, Output>,
): UseCase<Ports, Input, Output> => useCase

/**
 * Binds a use case to its ports. The call throws `forbidden` if the permission is missing, before it reads anything, and
 * `validation-failed` if the input does not match its schema.
 */
export const bindUseCase =
  <Ports, Input extends z.ZodType, Output>(
    { permission, input: schema, handle }: UseCase<Ports, Input, Output>,
    { ports, settings }: SystemContext<Ports>,
  ): Call<Input, Output> =>
  async (actor, ...[input = {}]) => {
    admit(actor, settings.tenantId, permission)
    const parsed = safeParse(schema, input)
    return parsed.success
      ? handle({ actor, ports, settings }, parsed.data)
      : refuseFields(faultsOf(parsed.error, input))
  }
