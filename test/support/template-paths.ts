import { isNode, type Node } from './card-rules.ts'

/**
 * Returns the paths in a template that its data does not have. `$when` with a missing field silently drops its element,
 * so only this check finds a misspelt path.
 */
export function unknownPaths(template: unknown, schema: Node, strings: Node): string[] {
  const root = { ...schema, properties: { ...propertiesOf(schema), strings: asSchema(strings) } }
  return walk(template, root, root)
}

function walk(value: unknown, scope: Node, root: Node): string[] {
  if (typeof value === 'string') return pathsOf(value).filter((path) => !known(path, scope, root))
  if (Array.isArray(value)) return value.flatMap((item) => walk(item, scope, root))
  if (!isNode(value)) return []
  const { $data, ...rest } = value
  if ($data === undefined) return Object.values(rest).flatMap((item) => walk(item, scope, root))
  const path = pathsOf(String($data))[0] ?? ''
  const list = resolve(path, scope, root)[0]
  if (!list) return [path]
  const item = isNode(list['items']) ? list['items'] : list
  return Object.values(rest).flatMap((inner) => walk(inner, item, root))
}

/** Returns the data paths in a text: the contents of `${…}`, without literals, functions and keywords. */
function pathsOf(text: string): string[] {
  const bare = [...text.replaceAll(/'[^']*'/g, ' ').matchAll(/\$\{([^}]*)\}/g)].map(([, inside]) => inside ?? '')
  const inBrackets = bare.flatMap((one) => [...one.matchAll(/\[([^\]]+)\]/g)].map(([, inside]) => inside ?? ''))
  const paths = [...bare, ...inBrackets].flatMap(
    (one) => one.match(/[$A-Za-z_][\w$]*(?:\.\w+|\[[^\]]+\])*(?![\w(])/g) ?? [],
  )
  return paths.filter((path) => !['replace', 'string', 'exists', 'true', 'false', '$index'].includes(path))
}

const known = (path: string, scope: Node, root: Node): boolean => resolve(path, scope, root).length > 0

/**
 * Returns the possible schemas of a path; `[key]` matches any child, and each child must have the rest of the path.
 */
function resolve(path: string, scope: Node, root: Node): Node[] {
  const parts = path.replaceAll(/\[[^\]]+\]/g, '.*').split('.')
  const fromRoot = parts[0] === '$root'
  let here = [fromRoot ? root : scope]
  for (const part of fromRoot ? parts.slice(1) : parts) {
    const next = here.map((schema) => {
      const properties = propertiesOf(schema)
      return part === '*' ? Object.values(properties).filter(isNode) : [properties[part]].filter(isNode)
    })
    // Below `[key]`, plain texts are next to groups (`notice.trace`). The schema's enum never selects the texts.
    here = next.flat()
    if (here.length === 0) return []
  }
  return here
}

const propertiesOf = (schema: Node): Node => (isNode(schema['properties']) ? schema['properties'] : {})

function asSchema(strings: Node): Node {
  const properties = Object.entries(strings).map(([key, value]) => [
    key,
    isNode(value) ? asSchema(value) : { type: 'string' },
  ])
  return { type: 'object', properties: Object.fromEntries(properties) }
}
