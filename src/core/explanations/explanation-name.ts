import { slug } from '../naming/index.ts'
import {
  changedNames,
  isForMailbox,
  isTakenName,
  type Request,
  type RequestForMailbox,
  type RequestForSite,
} from '../requests/index.ts'
import type { ExplanationLine } from './codes.ts'

/** Explains the name: the typed name, the affixes of the template, and taken names. */
export function whyThisName(request: Request): ExplanationLine[] {
  // The typed name was removed with the details.
  if (request.reducedAt !== undefined) return [nameIs(request)]
  const own = isForMailbox(request) ? nameOfMailbox(request) : nameOfSite(request)
  return [...own, ...changedByTenant(request), ...takenMeanwhile(request)]
}

const nameIs = (request: Request): ExplanationLine => ({
  code: 'name-is',
  facts: { address: isForMailbox(request) ? request.address : request.alias },
})

function nameOfSite(request: RequestForSite): ExplanationLine[] {
  const { template, details, typedName, passedOver = [] } = request
  return [
    nameIs(request),
    details.alias !== ''
      ? { code: 'name-typed', facts: { typed: details.alias } }
      : slug(details.displayName) === ''
        ? { code: 'name-of-request', facts: {} }
        : { code: 'name-derived', facts: { displayName: typedName ?? details.displayName } },
    ...affixes(template),
    ...(passedOver.length > 0 ? [{ code: 'name-passed-over', facts: { names: passedOver.join(', ') } } as const] : []),
  ]
}

function nameOfMailbox(request: RequestForMailbox): ExplanationLine[] {
  const { template, address, aliasAddress, details } = request
  const domain = address.slice(address.indexOf('@') + 1)
  return [
    nameIs(request),
    { code: 'name-typed', facts: { typed: details.name } },
    ...affixes(template),
    { code: details.domain === undefined ? 'domain-usual' : 'domain-typed', facts: { domain } },
    ...(aliasAddress === ''
      ? []
      : [{ code: 'other-address', facts: { address: aliasAddress, typed: details.alias ?? aliasAddress } } as const]),
  ]
}

function affixes({ naming: { prefix, suffix } }: Request['template']): ExplanationLine[] {
  if (prefix === '' && suffix === '') return []
  const why = suffix === '' ? 'prefix' : prefix === '' ? 'suffix' : 'both'
  const facts = { why, ...(prefix !== '' && { prefix }), ...(suffix !== '' && { suffix }) }
  return [{ code: 'name-affixed', facts }]
}

/** The naming policy of the tenant changed the name. */
function changedByTenant(request: Request): ExplanationLine[] {
  const names = changedNames(request)
  if (!names) return []
  return [{ code: 'name-changed', facts: { displayName: names.displayName, address: names.alias } }]
}

/** The name was free at submission, and taken at creation. */
function takenMeanwhile(request: Request): ExplanationLine[] {
  const { problem } = request
  if (!isTakenName(problem)) return []
  const main = isForMailbox(request) ? request.address : request.alias
  const taken = isForMailbox(request) && problem.code === 'alias-taken' ? request.aliasAddress : main
  const { suggestion: free } = problem
  return [free ? { code: 'name-taken', facts: { taken, free } } : { code: 'name-taken-only', facts: { taken } }]
}
