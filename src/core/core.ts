import type { z } from 'zod'
import type { DryRuns } from './batches/index.ts'
import type { NotificationPorts as Ports } from './notifications/index.ts'
import { type Checks, createChecks } from './requests/index.ts'
import {
  type Actor,
  actorFor,
  bindUseCase,
  type Call,
  type CallerIdentity,
  createAdminCache,
  type Settings,
  type SystemContext,
  type UseCase,
} from './shared/index.ts'
import { systemUseCases, useCases } from './use-cases.ts'

/** The ports and the state in the memory of one process. */
type CorePorts = Ports & Checks & DryRuns

type Calls = {
  readonly [Name in keyof typeof useCases]: (typeof useCases)[Name] extends UseCase<never, infer Input, infer Output>
    ? Call<Input, Output>
    : never
}
type SystemCalls = {
  readonly [Name in keyof typeof systemUseCases]: (typeof systemUseCases)[Name] extends (
    context: never,
    ...input: infer Input
  ) => infer Output
    ? (...input: Input) => Output
    : never
}

/** The provisioning core for its callers: bot, REST routes and jobs. */
export interface Core extends Calls {
  readonly settings: Settings
  readonly siteRoot: string
  readonly otherSiteOrigins: readonly string[]
  readonly outlookRoot: string
  /** Returns the caller: a person of our tenant as the directory knows them, and whether they are an admin now. */
  actor(identity: CallerIdentity): Promise<Actor>
  /** Returns the caller for calls about health, also while the directory does not answer. */
  actorForHealth(identity: CallerIdentity): Promise<Actor>
  readonly system: SystemCalls
}

/** Composes the core from its ports. */
export function createCore(ports: Ports, settings: Settings): Core {
  const own: CorePorts = { ...ports, checks: createChecks(ports), dryRuns: new Set() }
  const context = { ports: own, settings }
  const admins = createAdminCache(settings, ports.clock)
  const actor = (identity: CallerIdentity): Promise<Actor> => admins.remembering(identity, actorFor(context, identity))
  return {
    ...bound<Calls, UseCase<CorePorts, z.ZodType, unknown>>(useCases, (useCase) => bindUseCase(useCase, context)),
    settings,
    siteRoot: ports.tenant.siteRoot,
    outlookRoot: ports.tenant.outlookRoot,
    otherSiteOrigins: ports.tenant.otherSiteOrigins ?? [],
    actor,
    actorForHealth: (identity) => admins.orRemembered(identity, actor(identity)),
    system: bound<SystemCalls, SystemUseCase>(
      systemUseCases,
      (run) =>
        (...input: never[]) =>
          run(context, ...input),
    ),
  }
}
type SystemUseCase = (context: SystemContext<CorePorts>, ...input: never[]) => unknown

/** Binds each definition under its own name. `Object.fromEntries` loses the type of the names, so `Bound` declares them. */
const bound = <Bound, Definition>(
  definitions: { readonly [Name in keyof Bound]: Definition },
  bind: (definition: Definition) => unknown,
): Bound => Object.fromEntries(Object.entries<Definition>(definitions).map(([name, one]) => [name, bind(one)])) as Bound
