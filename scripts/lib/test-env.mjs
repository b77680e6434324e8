// The environment of a test run: no keys, settings, servers or git settings of the machine.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/** What a test run takes over from the machine. Everything else is left out, because it could change a result. */
const PASSED = [
  /^(?:PATH|TMPDIR|TEMP|TMP|TERM|CI|SystemRoot|ComSpec|PATHEXT)$/,
  // Options of the tests themselves. Those of the command are left out.
  /^DRAGOMAN_(?!.*_(?:BASE_URL|WIRE)$|(?:WRITE_)?SYSTEM_MD$|(?:MODEL|TRACE|COMMAND|GOOGLE_METADATA|INSTALLATION_ID|LOCAL_SERVERS)$)/,
  /^(?:SEED|FC_SEED|RUNS)$/,
  // Some tests install packages: npm needs its own settings and the certificates of the network.
  /^npm_config_(?:userconfig|globalconfig|cache|registry|cafile|proxy|https_proxy|noproxy)$/i,
  /^(?:NODE_EXTRA_CA_CERTS|SSL_CERT_FILE)$/,
]

/**
 * The environment for a test run, with an empty home folder that is removed at the end of this process.
 * The programs in `hide` are not on its PATH.
 */
export function testEnvironment(hide = [], env = process.env) {
  const place = mkdtempSync(join(tmpdir(), 'dragoman-test-'))
  process.once('exit', () => rmSync(place, { recursive: true, force: true, maxRetries: 3 }))
  const home = join(place, 'home')
  mkdirSync(home)
  const passed = Object.entries(env).filter(([name]) => PASSED.some((pattern) => pattern.test(name)))
  // Random tests make the same cases every time, so that a failure means a change; another seed makes other cases.
  const seed = env.DRAGOMAN_SEED ?? '1'
  return {
    SEED: seed,
    FC_SEED: seed,
    npm_config_userconfig: join(homedir(), '.npmrc'),
    npm_config_cache: join(homedir(), '.npm'),
    ...Object.fromEntries(passed),
    DRAGOMAN_SEED: seed,
    DRAGOMAN_LOCAL_SERVERS: 'off',
    // A file of its own: as root, git would replace a device by a file when a test writes a global setting.
    GIT_CONFIG_GLOBAL: join(home, '.gitconfig'),
    GIT_CONFIG_NOSYSTEM: '1',
    HOME: home,
    LANG: 'C.UTF-8',
    USERPROFILE: home,
    ...(hide.length > 0 && { PATH: pathWithout(hide, env.PATH ?? '', join(place, 'bin')) }),
  }
}

/** A PATH of one folder, which links to every program of another PATH but those to hide. */
function pathWithout(hide, path, folder) {
  mkdirSync(folder)
  const seen = new Set(hide)
  for (const name of path.split(delimiter).flatMap(namesIn)) {
    if (seen.has(name.file)) continue
    seen.add(name.file)
    symlinkSync(join(name.folder, name.file), join(folder, name.file))
  }
  return folder
}

function namesIn(folder) {
  try {
    return readdirSync(folder).map((file) => ({ folder, file }))
  } catch {
    return [] // A PATH may name folders that do not exist.
  }
}
