import { tryOrUndefined } from '../model/try-or-undefined.ts'
import { findHostNameProblem } from '../policy/url/host-name.ts'
import { describeNonPublicAddress, isIpAddress } from '../policy/url/ip-address.ts'
import type { GitWorkspace } from './session-settings.ts'

/** Why a repository may not be checked out, if that is so. `allowed` has the beginnings of the URLs that may. */
export function findWorkspaceProblem({ git }: GitWorkspace, allowed: readonly string[]): string | undefined {
  const url = tryOrUndefined(() => new URL(git))
  if (!url || !/^(?:https|ssh|file):$/.test(url.protocol))
    return 'A workspace needs a git URL that is https, ssh or file.'
  if (url.href !== git && url.href !== `${git}/`) return 'The git URL of the workspace is not in its plain form.'
  if (/%2e|%2f|%5c|\\|[\s\x00-\x1f]/i.test(git) || url.search !== '' || url.hash !== '')
    return 'The git URL of the workspace is not in its plain form.'
  if (url.hostname.startsWith('-') || !/^[\w.+-]*$/.test(url.username) || url.username.startsWith('-'))
    return 'The git URL of the workspace is not in its plain form.'
  if (url.password !== '' || (url.username !== '' && url.protocol !== 'ssh:'))
    return 'The git URL of the workspace has credentials in it, and they would be stored.'
  return allowed.some((prefix) => isCovered(url, git, prefix))
    ? undefined
    : 'The git URL of the workspace is not one of those that this token may use.'
}

/**
 * `https://host/a` covers `https://host/a/b`, but not `https://host/ab`. A prefix without a host covers public hosts, because
 * whoever wrote it did not mean those of the own network. `*` covers all that is not on this machine's disk.
 */
function isCovered(url: URL, git: string, prefix: string): boolean {
  if (prefix === '*') return url.protocol !== 'file:'
  if (/^(?:https|ssh):\/\/$/.test(prefix)) return git.startsWith(prefix) && isPublicHost(url.hostname)
  return git === prefix || git.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`)
}

function isPublicHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '')
  if (isIpAddress(name)) return describeNonPublicAddress(name) === undefined
  return findHostNameProblem(name.toLowerCase())?.verdict !== 'deny'
}
