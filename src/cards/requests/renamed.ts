import { changedNames, type Request } from '../../core/index.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, longest } from '../shared/words.ts'

/**
 * The name of a resource as the tenant has it, and a sentence when the tenant's own naming policy made it of another one:
 * people asked for that one, and approvers approved it.
 */
export function titleOf(request: Request): { displayName: string; renamed: string } {
  const names = changedNames(request)
  const { displayName: asked } = request.details
  if (!names) return { displayName: cut(asked, longest.title), renamed: '' }
  const { displayName, mail, alias } = names
  const values = { name: cut(displayName, longest.name), asked: cut(asked, longest.name), address: mail ?? alias }
  return { displayName: cut(displayName, longest.title), renamed: format(strings.status.renamed, values) }
}
