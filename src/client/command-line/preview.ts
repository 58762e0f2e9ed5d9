import { type FieldFault, type MailboxRequest, type Preview, ProblemError, type SiteRequest } from '../index.ts'
import type { Body } from './body.ts'
import type { Scope } from './define-command.ts'
import { clean } from './terminal.ts'
import { fill, words } from './words.ts'

/** What the service would make of a body; undefined where a service has no previews. */
export async function previewOf(scope: Scope, body: Body): Promise<Preview | undefined> {
  try {
    // The service judges what it is.
    return await (await scope.client()).preview(body as SiteRequest | MailboxRequest, { signal: scope.signal })
  } catch (error) {
    if (error instanceof ProblemError && ['no-such-address', 'method-not-allowed'].includes(error.code))
      return undefined
    throw error
  }
}

/** What it would be: its kind and names, who decides, what the template put there, what may surprise, what is wrong. */
export function previewLines({ kind, names, approvals, defaults, warnings, errors, similar }: Preview): string[] {
  const address = names?.url ?? names?.address
  return [
    fill(words.preview.kind, { kind: words.kinds[kind] ?? clean(kind), name: clean(names?.displayName ?? '') }),
    ...(address === undefined
      ? []
      : [`  ${fill(names?.free ? words.preview.address : words.preview.taken, { address: clean(address) })}`]),
    ...defaults.map(
      ({ field, value }) => `  ${fill(words.preview.byTemplate, { field: clean(field), value: clean(String(value)) })}`,
    ),
    ...approvals.map(({ stage, approvers }) => {
      const names = approvers.map(({ displayName }) => clean(displayName)).join(', ')
      return `  ${fill(words.preview.approval, { stage, names: names || words.show.nobody })}`
    }),
    ...(approvals.length === 0 ? [`  ${words.preview.noApproval}`] : []),
    ...similar.value.map(({ displayName }) => `  ${fill(words.preview.similar, { name: clean(displayName) })}`),
    ...warnings.map(({ detail }) => `  ${fill(words.preview.warning, { detail: clean(detail) })}`),
    ...faultLines(errors),
  ]
}

/** What is wrong with each field, and what would do instead. */
export const faultLines = (errors: readonly FieldFault[]): string[] =>
  errors.map(({ pointer, detail, suggestion }) => {
    const line = `  ${clean(pointer)}: ${clean(detail)}`
    return suggestion === undefined ? line : `${line} ${fill(words.refused.suggestion, { value: clean(suggestion) })}`
  })
