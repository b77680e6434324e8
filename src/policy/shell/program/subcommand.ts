import { posix } from 'node:path'
import { createCommandList } from './command-list.ts'

/**
 * Programs whose first words say what is done, so that the user can allow them with any arguments: `npm run build`. A
 * `*` is one name. Not listed: what starts other programs (shells, `env`, `xargs`, `npx`), what changes its meaning
 * with its arguments (`npm install`, `git push`, `docker run`), and what removes files.
 */
const getSubcommands = createCommandList(`
  npm run *, npm run-script *, npm test, npm t, npm start, npm ci, npm pack
  yarn run *, yarn test, yarn build, yarn lint, pnpm run *, pnpm test, pnpm build, pnpm lint, bun run *, bun test
  deno task *, deno test, deno fmt, deno lint, deno check
  tsc, eslint, prettier, jest, vitest, mocha, biome check, biome lint, biome format
  npx tsc, npx eslint, npx prettier, npx jest, npx vitest
  cargo build, cargo test, cargo check, cargo clippy, cargo fmt, cargo doc, cargo bench, cargo run, cargo tree, cargo metadata
  go build, go test, go vet, go fmt, go list, go doc, go run, go generate, go mod tidy, go mod download
  make *, just *, rake *, ninja *
  python -m pytest, python -m unittest, python -m mypy, python -m ruff, python -m black, python -m build
  python3 -m pytest, python3 -m unittest, python3 -m mypy, python3 -m ruff, python3 -m black, python3 -m build
  pytest, mypy, ruff check, ruff format, black, isort, flake8, pylint, tox
  uv sync, uv lock, uv run pytest, uv run ruff, uv run mypy, poetry run pytest
  mvn test, mvn compile, mvn package, mvn verify, mvn clean
  gradle build, gradle test, gradle check, gradle assemble, gradle clean
  ./gradlew build, ./gradlew test, ./gradlew check, ./gradlew assemble, ./gradlew clean, ./mvnw test, ./mvnw package
  dotnet build, dotnet test, dotnet format, swift build, swift test, mix test, mix compile, mix format, bundle exec rspec
  docker ps, docker images, docker logs, docker inspect, docker build, docker compose ps, docker compose logs
  kubectl get, kubectl describe, kubectl logs, kubectl top, terraform plan, terraform validate, terraform fmt
  helm list, helm lint, helm template
  gh pr list, gh pr view, gh pr diff, gh pr checks, gh issue list, gh issue view, gh run list, gh run view
  git add, git commit, git checkout, git switch, git restore, git stash, git merge, git cherry-pick, git revert, git mv
  git tag, git branch, git fetch, git pull, git diff, git log, git show, git blame, git grep, git shortlog
  mkdir, touch
`)

/** Returns the first words of a command that say what it does, if these are listed. */
export function findSubcommandWords(words: readonly string[]): readonly string[] | undefined {
  const found = getSubcommands().filter((one) =>
    one.every((word, at) => (word === '*' ? isPlainName(words[at]) : words[at] === word)),
  )
  const longest = found.sort((a, b) => b.length - a.length)[0]
  return longest && words.slice(0, longest.length)
}

function isPlainName(word: string | undefined): boolean {
  return word !== undefined && /^[\w][\w:./@-]*$/.test(word)
}

/**
 * Returns the first word after a subcommand that may change its meaning: an option that names a program, settings or
 * code, a variable, a URL, a path outside the workspace, or a protected file as the value of an option.
 */
export function findRiskyWord(
  subcommand: readonly string[],
  rest: readonly string[],
  isOutside: (path: string) => boolean,
): string | undefined {
  const [program = ''] = subcommand
  const names = subcommand.map((word) => posix.basename(word))
  const isFor = (programs: string) => names.some((name) => programs.split(' ').includes(name))
  const risks = PROGRAM_RISKS.filter(({ programs }) => isFor(programs))
  const long = [...RISKY_OPTIONS, ...risks.flatMap((one) => one.long?.split(' ') ?? [])]
  const isShortened = isFor(ABBREVIATING_PROGRAMS)
  const end = program === 'npm' ? rest.indexOf('--') : -1
  return rest.find((word, at) => {
    const isOption = isOptionWord(word)
    // The words before `--` are for npm itself.
    const isForNpm = program === 'npm' && isOption && (end < 0 || at < end)
    const { name, value } = splitOption(word)
    const isValue = (isOption && value !== word) || (program !== 'git' && isOptionWord(rest[at - 1] ?? ''))
    return (
      (isForNpm && !NPM_OPTIONS.test(word)) ||
      (name !== undefined &&
        long.some((one) => one === name || (isShortened && word.startsWith('--') && one.startsWith(name)))) ||
      risks.some(({ words }) => words?.test(word)) ||
      (!isImageTag(word, rest[at - 1]) && /^[a-z][\w+.-]*(?:@[\w.-]+)?:(?:\S*$|:|\/\/)/i.test(value)) ||
      ((isValue || /^[~/]|(?:^|\/)\.\.(?:\/|$)/.test(value)) && isOutside(value))
    )
  })
}

/** Options of npm that only change its output or select packages of this project. */
const NPM_OPTIONS =
  /^(?:-[sqdw]|-dd|-ddd|--(?:silent|quiet|verbose|if-present|foreground-scripts|ignore-scripts|include-workspace-root|no-(?:audit|fund|progress|color|update-notifier)|prefer-offline|offline|loglevel(?:=\w+)?|workspaces?(?:=[\w@./-]+)?))$/

/** The name of an image, such as `app:1.0`, looks like a URL. */
function isImageTag(word: string, before = ''): boolean {
  return /^(?:-t|--tag)$/.test(before) && /^[\w.-]+:[\w.-]+$/.test(word)
}

function isOptionWord(word: string): boolean {
  return word.startsWith('-') && word !== '-' && word !== '--'
}

/** The name of a long option, in lower case and without a part after a dot; and the value in the same word. */
function splitOption(word: string): { readonly name?: string; readonly value: string } {
  const [, dashes, name = '', value] = /^(--?)([\w-]+)(?:\.[\w.-]*)?(?:[=:]([^]*))?$/.exec(word) ?? []
  if (dashes === undefined) return { value: /^-[a-zA-Z]([./~][^]*)$/.exec(word)?.[1] ?? word }
  return { ...((dashes === '--' || name.length > 1) && { name: name.toLowerCase() }), value: value ?? word }
}

/** Options that by convention name a program, settings, code to load, or another folder. */
const RISKY_OPTIONS: readonly string[] = (
  'exec execdir execute toolexec vettool eval shell script-shell node-options require import loader experimental-loader ' +
  'prefix cwd config config-file config-path rcfile settings init-script init-hook manifest-path upload-pack receive-pack ' +
  'exec-path git-dir work-tree template plugin plugins load-plugins rulesdir resolve-plugins-relative-to format formatter ' +
  'parser runner reporter reporters transform preset environment globalsetup globalteardown setupfiles setupfilesafterenv ' +
  'testrunner testenvironment use-compress-program compiler linker overlay modfile kubeconfig server token host context ' +
  'volume mount file makefile directory include-dir rootdir root dir confcutdir override override-ini python-executable ' +
  'interpreter pathspec-from-file ext-diff textconv output outdir out-dir target-dir open-files-in-pager'
).split(' ')

/** Programs that accept abbreviated option names. */
const ABBREVIATING_PROGRAMS = 'make ninja rake git mypy pylint flake8 isort tox unittest rspec'

interface ProgramRisk {
  readonly programs: string
  readonly long?: string
  readonly words?: RegExp
}

const PROGRAM_RISKS: readonly ProgramRisk[] = [
  // In make, a word with = sets a variable, and with != runs a command for its value.
  { programs: 'make ninja', words: /^-[a-zA-Z]*[CfIEerR]|^[^-][^]*=/ },
  {
    programs: 'just',
    long: 'command justfile working-directory set shell-arg shell-command chooser choose edit dotenv-path dotenv-filename',
    words: /^-[a-zA-Z]*[cdefs]|^[^-][^]*=/,
  },
  {
    programs: 'rake',
    long: 'execute-print execute-continue rakefile rakelibdir libdir',
    words: /^-[a-zA-Z]*[CfIEeprR]|^[^-][^]*=/,
  },
  { programs: 'cargo', words: /^-[CZ]/ },
  // A module with a version is downloaded.
  { programs: 'go', long: 'c o ldflags gcflags asmflags gccgoflags pkgdir mod', words: /^--?[Co](?:=|$)|^[^-][^]*@/ },
  { programs: 'git', long: 'strategy edit refmap recurse-submodules', words: /^-[cCOFs]/ },
  {
    programs: 'diff log show blame grep shortlog',
    long: 'output ext-diff textconv no-index open-files-in-pager contents file filters',
  },
  { programs: 'pytest python python3 uv poetry', words: /^-[pco]/ },
  {
    programs: 'mvn gradle gradlew mvnw',
    words: /^-(?!D(?:test=|skipTests|maven\.test\.skip)|q$|x$|-tests|-info$|-stacktrace$)/,
  },
  { programs: 'eslint prettier jest vitest mocha biome', words: /^-[cfrp]/ },
  { programs: 'kubectl', words: /^-[sf]|(?:^|,)secrets?(?:[/,.]|$)/i },
  { programs: 'docker', long: 'secret ssh build-context add-host network', words: /^-[foHv]/ },
  { programs: 'terraform helm', long: 'var-file chdir post-renderer', words: /^-f/ },
  { programs: 'mypy ruff black isort flake8 pylint tox', words: /^-[cp]/ },
  { programs: 'tox', long: 'installpkg', words: /^-x|^(?:exec|e)$/ },
  // A property or a response file may contain a command.
  {
    programs: 'dotnet',
    words:
      /^[@/]|^-(?!c$|f$|r$|v$|-configuration$|-framework$|-runtime$|-verbosity$|-filter$|-no-\w+$|-nologo$|-list-tests$|-verify-no-changes$)/,
  },
  { programs: 'deno', words: /^-[AP]|^--(?:allow|permission|unsafely|cert)/ },
  { programs: 'swift', long: 'disable-sandbox package-path', words: /^-X/ },
]
