import { posix } from 'node:path'
import type { DiskView } from '../../disk-view.ts'
import type { HarmlessCommandSpec } from './harmless-command-spec.ts'

/**
 * Programs and their version options. A version manager would start what a project file names, so there must be no
 * such file.
 */
const VERSION_ARGUMENTS: Readonly<Record<string, string>> = {
  '--version':
    'bash zsh fish sh git node npm npx deno bun pnpm yarn corepack tsc python python3 pip pip3 uv uvx pipx poetry ruff black ' +
    'rustc cargo rustup rustfmt clippy-driver go gofmt golangci-lint java javac gradle mvn kotlin kotlinc scala sbt gcc g++ ' +
    'clang clang++ cc c++ make cmake ninja meson ld pkg-config docker podman kubectl helm aws gcloud gh ' +
    'glab jq yq rg fd fzf bat tree curl wget openssl ssh sed awk gawk grep find tar gzip zip unzip rsync ruby gem bundle perl ' +
    'php lua dotnet swift elixir mix ghc cabal stack sqlite3 psql mysql redis-cli shellcheck actionlint hadolint ' +
    'pre-commit',
  '--help':
    'node npm npx deno bun tsc python python3 pip pip3 uv ruff black rustc cargo rustup go gofmt java javac gcc clang make ' +
    'cmake docker kubectl gh jq rg fd tree curl wget sed grep find tar zip unzip ls cat sort',
  '-V': 'python python3 pip pip3 rustc cargo ruff tar bash ssh tmux',
  '-v': 'node npm deno bun pnpm yarn php ruby perl mvn gradle gcc go',
  '-version': 'java javac scala kotlinc ant',
  help: 'go npm cargo',
  version: 'go helm gh',
}

export function createVersionCommandSpecs(): Readonly<Record<string, HarmlessCommandSpec>> {
  const specs = Object.entries(VERSION_ARGUMENTS).flatMap(([word, programs]) =>
    programs.split(' ').map((name) => [`${name} ${word}`, { options: '', operands: 'none' }] as const),
  )
  return withVersionRiskCheck(Object.fromEntries(specs))
}

/** Adds a check if a project file may change what the program starts, even for its version. */
export function withVersionRiskCheck(
  specs: Readonly<Record<string, HarmlessCommandSpec>>,
): Readonly<Record<string, HarmlessCommandSpec>> {
  return Object.fromEntries(
    Object.entries(specs).map(([words, spec]) => [
      words,
      { ...spec, findFolderRisk: createVersionRiskCheck(words.split(' ')[0] ?? '') },
    ]),
  )
}

function createVersionRiskCheck(name: string): (folder: string, disk: DiskView) => string | undefined {
  return (folder, disk) => {
    const files = [...(SETTINGS_FILES[name] ?? []), ...(isVersionManaged(name, disk) ? VERSION_MANAGER_FILES : [])]
    if (files.length === 0) return undefined
    for (let at = folder; ; at = posix.dirname(at)) {
      const found = files.find(
        (file) => disk.exists(posix.join(at, file)) && mayChooseProgram(posix.join(at, file), disk),
      )
      if (found !== undefined) return `${posix.join(at, found)} may decide what ${name} is`
      if (at === posix.dirname(at)) return undefined
    }
  }
}

const PACKAGE_MANAGER_FILES = ['package.json', '.yarnrc', '.yarnrc.yml']

/** Files by which a project makes these programs start something else. */
const SETTINGS_FILES: Readonly<Record<string, readonly string[]>> = {
  npm: ['.npmrc'],
  npx: ['.npmrc'],
  yarn: PACKAGE_MANAGER_FILES,
  pnpm: PACKAGE_MANAGER_FILES,
  corepack: PACKAGE_MANAGER_FILES,
  mvn: ['.mvn'],
  gradle: ['gradle.properties', '.gradle'],
  sbt: ['project', '.sbtopts', '.jvmopts'],
  go: ['go.mod', 'go.work'],
  mix: ['mix.exs'],
  bundle: ['Gemfile', 'Gemfile.lock', '.bundle'],
  poetry: ['pyproject.toml', 'poetry.toml'],
  dotnet: ['global.json'],
  stack: ['stack.yaml'],
}

const VERSION_MANAGER_FILES: readonly string[] = (
  '.tool-versions mise.toml .mise.toml mise .mise .python-version .ruby-version .node-version .java-version .go-version ' +
  'rust-toolchain rust-toolchain.toml'
).split(' ')

/** Is the program a version manager, by its path or its real name? */
function isVersionManaged(name: string, disk: DiskView): boolean {
  const programPath = disk.findProgram(name)
  return (
    programPath !== undefined &&
    /\/(?:shims|\.volta|mise|asdf|\.cargo\/bin)\/|\/(?:rustup|volta-shim|mise|asdf|[a-z]+env)$/.test(programPath)
  )
}

/** In some of these files only certain lines matter. */
function mayChooseProgram(path: string, disk: DiskView): boolean {
  const line = DECIDING_LINES.find(([file]) => path.endsWith(`/${file}`))?.[1]
  if (!line || disk.kind(path) !== 'file') return true
  const bytes = disk.read(path)
  return bytes === undefined || line.test(Buffer.from(bytes).toString('utf8'))
}

const DECIDING_LINES: readonly (readonly [file: string, line: RegExp])[] = [
  ['.npmrc', /script|shell|node-options|prefix|config|init-module/i],
  ['package.json', /"(?:packageManager|devEngines)"/],
  ['go.mod', /^\s*toolchain\b/m],
  ['go.work', /^\s*toolchain\b/m],
  ['gradle.properties', /jvmargs|java|daemon/],
  ['pyproject.toml', /requires-plugins/],
  ['.python-version', /[^\w.\s-]/],
  ['.node-version', /[^\w.\s-]/],
  ['.ruby-version', /[^\w.\s-]/],
]
