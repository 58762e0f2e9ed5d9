import { safeParse, z } from 'zod'
import { type Actor, admit, type Permission } from './access.ts'
import { refuseFields } from './errors.ts'
import type { Settings } from './ports.ts'
import { faultsOf } from './validation.ts'

/** Everything that a function of the core may use when it acts for the system: a job or a webhook. */
export interface SystemContext<Ports> {
  readonly ports: Ports
  readonly settings: Settings
}

/** Everything that a function of the core may use when it acts for a person or an application. */
export interface Context<Ports> extends SystemContext<Ports> {
  readonly actor: Actor
}

/** What the core does for an actor. `handle` expects that the permission and the input have been checked. */
export interface UseCase<Ports, Input extends z.ZodType, Output> {
  readonly permission: Permission
  readonly input: Input
  readonly handle: (context: Context<Ports>, input: z.output<Input>) => Promise<Output>
}

/** The schema of an object that the core itself made, and that its caller hands back unchanged. */
export const handedBack = <Value extends object>() =>
  z.custom<Value>((value) => typeof value === 'object' && value !== null)

/** A use case with its ports: what bot and routes call. An input that has no required field can be omitted. */
export type Call<Input extends z.ZodType, Output> = (
  actor: Actor,
  ...input: Record<never, never> extends z.input<Input> ? [input?: z.input<Input>] : [input: z.input<Input>]
) => Promise<Output>

/**
 * Defines what an actor can ask the core to do. For a permission that depends on one request or batch, `handle` calls `authorize` when
 * it has read it; every other permission has been checked before `handle` runs.
 */
export const defineUseCase = <Ports, Input extends z.ZodType, Output>(
  useCase: UseCase<Ports, Input, Output>,
): UseCase<Ports, Input, Output> => useCase

/**
 * Gives a use case its ports. The call throws `forbidden` before anything is read if the permission is missing, and
 * `validation-failed` if the input does not fit its schema.
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
