import { checkKey } from '../../provider/auth/check-key.ts'
import type { Grant, Keys } from '../../provider/auth/grant.ts'
import { resolveModel } from '../../provider/resolve.ts'
import type { Row } from '../../provider/row.ts'
import { sharedPost } from '../../provider/send.ts'
import { type Environment, SENDABLE, type Target } from '../../provider/target.ts'
import { workFolder } from '../setup/assemble.ts'
import { showInBrowser } from '../sign-in/browser.ts'
import { readSettings } from '../config/read.ts'
import { Complaint, EXIT } from '../exit.ts'
import { keysFile } from '../sign-in/keys-file.ts'
import { LOGIN, LOGOUT } from '../manual/login.ts'
import { rowsWith } from '../setup/model.ts'
import { parseLine } from '../line/parse.ts'
import { readSecret } from '../sign-in/read-secret.ts'
import { showHelp } from '../line/show-help.ts'
import { credentialIn, signIns } from '../sign-in/sign-ins.ts'

/** `dragoman login`: stores a key or a sign-in. A key that was given already is not asked for. */
export async function loginCommand(args: string[], given?: string): Promise<void> {
  const { values, positionals } = parse(args)
  if (positionals.length === 0 && !values.list) return void (await showHelp('login'))
  const rows = rowsWith(readSettings(workFolder({})).config)
  const keys = keysFile()
  if (values.list) return list(rows, keys)
  const row = rowNamed(positionals, rows)
  const grant =
    values['client-file'] === undefined
      ? await keyFor(row, values['no-check'] ?? false, given)
      : await browserSignIn(row, values['client-file'])
  keys.set(row.id, grant)
  const variable = [...row.keys, ...(row.tokens ?? [])].find((name) => (process.env[name] ?? '') !== '')
  print(`Signed in to ${row.id}.${variable === undefined ? '' : ` But ${variable} is set, and comes first.`}\n`)
}

/** `dragoman logout`: forgets what was stored. */
export async function logoutCommand(args: string[]): Promise<void> {
  const { positionals } = parseLine('dragoman logout', LOGOUT.options, args)
  if (positionals.length === 0) return void (await showHelp('logout'))
  const [id = ''] = positionals
  if (positionals.length > 1) throw new Complaint('dragoman logout takes one provider')
  if (!keysFile().remove(id)) throw new Complaint(`nothing is stored for ${JSON.stringify(id)}; dragoman login --list`)
  print(`Signed out of ${id}.\n`)
}

function list(rows: readonly Row[], keys: Keys): void {
  const lines = rows.flatMap((row) => {
    const variable = [...row.keys, ...(row.tokens ?? [])].find((name) => (process.env[name] ?? '') !== '')
    const grant = keys.get(row.id)
    const ways = [...(variable === undefined ? [] : [variable]), ...(grant ? [described(grant)] : [])]
    return ways.length === 0 ? [] : [`${row.id.padEnd(16)}${ways.join('; ')}\n`]
  })
  const strays = keys.rows().filter((id) => !rows.some((row) => row.id === id))
  for (const id of strays) lines.push(`${id.padEnd(16)}stored, but there is no such provider\n`)
  print(lines.length === 0 ? 'Nobody is signed in; dragoman login <provider>.\n' : lines.join(''))
}

function described(grant: Grant): string {
  if (grant.kind === 'key') return 'a stored key'
  return `a sign-in with Google${grant.project === undefined ? '' : `, project ${grant.project}`}`
}

function rowNamed([id = '', ...more]: readonly string[], rows: readonly Row[]): Row {
  if (more.length > 0)
    throw new Complaint(
      'a key does not belong on the command line, where others can see it: type it when asked, or pipe it in; if that was one, have it replaced',
    )
  const row = rows.find((one) => one.id === id)
  if (!row) throw new Complaint(`there is no provider “${id}”; there are ${rows.map((one) => one.id).join(', ')}`)
  if (row.auth === 'none') throw new Complaint(`${id} needs no key`)
  return row
}

async function keyFor(row: Row, unchecked: boolean, given: string | undefined): Promise<Grant> {
  if (row.wire === 'code-assist')
    throw new Complaint(
      `${row.id} takes no key: sign in with --client-file <file>, an OAuth client of your own; or with gcloud auth application-default login, and nothing more is needed`,
      EXIT.signIn,
    )
  const key = given ?? (await readSecret(`The key for ${row.id} (it is not shown): `))
  if (key === '') throw new Complaint('no key was given; nothing is stored')
  if (!SENDABLE.test(key) || /\s/.test(key))
    throw new Complaint('that is no key: it has spaces, lines or letters that no key has')
  const grant: Grant = { kind: 'key', key }
  if (unchecked) return grant
  const verdict = await checkKey(targetOf(row, grant), sharedPost())
  if (verdict.ok) return grant
  throw new Complaint(
    verdict.refused
      ? `${verdict.why}; nothing is stored`
      : `the key could not be tried: ${verdict.why.replace(/\.$/, '')}; nothing is stored (--no-check stores it untried)`,
    verdict.refused ? EXIT.signIn : EXIT.failure,
  )
}

/** The row as it will be reached with this grant and none other. */
function targetOf(row: Row, grant: Grant): Target {
  const variables = [...row.keys, ...(row.tokens ?? [])]
  const env: Environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !variables.includes(name)))
  const keys: Keys = { get: () => grant, set: () => {}, remove: () => false, rows: () => [row.id] }
  const target = resolveModel(`${row.id}/${row.model ?? 'any'}`, env, [row], signIns(env, keys))
  if ('problem' in target) throw new Complaint(target.problem, target.code)
  return target
}

async function browserSignIn(row: Row, path: string): Promise<Grant> {
  if (row.signIn !== 'google') throw new Complaint(`${row.id} knows no sign-in in the browser; leave --client-file out`)
  const found = credentialIn(path, true) ?? { problem: `There is no file ${path}.` }
  if ('problem' in found) throw new Complaint(found.problem)
  const { clientFrom, signInWith } = await import('../../provider/auth/oauth.ts')
  const client = clientFrom(found.file)
  if ('problem' in client) throw new Complaint(`${path} cannot be used: ${client.problem}`)
  try {
    const credential = await signInWith(client, sharedPost(), showInBrowser)
    const grant: Grant = { kind: 'google', credential }
    if (row.wire !== 'code-assist') return grant
    const { enter } = await import('../../provider/auth/code-assist.ts')
    const { tier, project } = await enter(targetOf(row, grant), { post: sharedPost() })
    print(`Code Assist: ${tier}${project === undefined ? '' : `, project ${project}`}.\n`)
    return project === undefined ? grant : { ...grant, project }
  } catch (error) {
    if (error instanceof Complaint) throw error
    throw new Complaint(`the sign-in failed: ${error instanceof Error ? error.message : String(error)}`, EXIT.signIn)
  }
}

function parse(args: string[]) {
  try {
    return parseLine('dragoman login', LOGIN.options, args)
  } catch {
    // What it does not understand may be a key, and is not repeated.
    throw new Complaint(
      'dragoman login takes a provider, --client-file, --no-check or --list; a key is typed or piped in',
    )
  }
}

function print(text: string): void {
  process.stdout.write(text)
}
