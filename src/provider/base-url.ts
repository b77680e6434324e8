import type { Environment } from './endpoint.ts'
import { getBaseUrlVariable, hasUrlPassword } from './endpoint.ts'
import type { ProviderDefinition } from './provider-definition.ts'

/** The address of a provider, and the variable of the user that decided it. */
export interface BaseUrl {
  readonly url: string
  readonly variable?: string
}

/** The first of: the user's variable, those of the vendor, the address of the table; without a trailing slash. */
export function resolveBaseUrl(
  definition: ProviderDefinition,
  env: Environment,
  location = 'global',
): BaseUrl | { readonly problem: string } {
  const template = findUrlTemplate(definition, env)
  // The global endpoint has no location in its name.
  const base = definition.url.replace('{location}-', location === 'global' ? '' : `${location}-`)
  const filled = fillTemplate(template ?? base, env)
  if ('missing' in filled) {
    const [first = '', ...others] = filled.missing
    const also = others.length > 0 ? ` (or ${others.join(', ')})` : ''
    return {
      problem: `The address of ${definition.id} contains ${first}: set it${also}, or set ${getBaseUrlVariable(definition.id)}.`,
    }
  }
  const { url, variables } = filled
  const name = variables[0]
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    return { problem: `${name ?? `The address of ${definition.id}`} is not an http(s) URL.` }
  if (hasUrlPassword(url)) return { problem: `${name} contains a password, which would not be sent: remove it.` }
  return { url: url.replace(/\/+$/, ''), ...(template !== undefined && name !== undefined && { variable: name }) }
}

/** The variable that decides the address, if one is set. */
export function findUrlVariable(definition: ProviderDefinition, env: Environment): string | undefined {
  const template = findUrlTemplate(definition, env)
  const filled = template === undefined ? undefined : fillTemplate(template, env)
  return filled && 'url' in filled ? filled.variables[0] : undefined
}

/** All variables that may decide the address. */
export function listUrlVariables(definition: ProviderDefinition): string[] {
  return listTemplates(definition).flatMap(listVariables)
}

/** An empty variable counts as unset. */
export function readVariable(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim()
  return value === '' ? undefined : value
}

function findUrlTemplate(definition: ProviderDefinition, env: Environment): string | undefined {
  return listTemplates(definition).find((template) => 'url' in fillTemplate(template, env))
}

function listTemplates({ id, urls = [] }: ProviderDefinition): string[] {
  return [getBaseUrlVariable(id), ...urls].map((entry) => (entry.includes('{') ? entry : `{${entry}}`))
}

type FilledTemplate =
  | { readonly url: string; readonly variables: readonly string[] }
  | { readonly missing: readonly string[] }

/** Replaces `{NAME|OTHER}` by the first of these variables that is set. */
function fillTemplate(template: string, env: Environment): FilledTemplate {
  const variables: string[] = []
  const missing: string[] = []
  const url = template.replace(VARIABLES, (placeholder: string, names: string, at: number) => {
    const candidates = names.split('|')
    const found = candidates.find((name) => readVariable(env, name) !== undefined)
    if (found === undefined) missing.push(...candidates)
    else variables.push(found)
    const value = found === undefined ? '' : (readVariable(env, found) ?? '')
    // At the beginning it is an address, perhaps with the path that follows; elsewhere it is one word of the address.
    return at === 0 ? removeEnd(value, template.slice(placeholder.length)) : encodeURIComponent(value)
  })
  return missing.length > 0 ? { missing } : { url, variables }
}

function removeEnd(address: string, end: string): string {
  const trimmed = end === '' ? address : address.replace(/\/+$/, '')
  return end !== '' && trimmed.endsWith(end) ? trimmed.slice(0, -end.length) : trimmed
}

const VARIABLES = /\{([A-Z][A-Z0-9_]*(?:\|[A-Z][A-Z0-9_]*)*)\}/g

function listVariables(template: string): string[] {
  return [...template.matchAll(VARIABLES)].flatMap(([, names = '']) => names.split('|'))
}
