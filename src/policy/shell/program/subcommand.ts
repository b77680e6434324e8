import { posix } from 'node:path'

/**
 * Programs whose first words say what is done, so that a person who allows it always means these words, with whatever follows:
 * `npm run build`. A `*` stands for one name. Not here: what starts other programs (shells, `env`, `xargs`, `npx`), what its
 * arguments make something else (`npm install`, `git push`, `docker run`), and what removes.
 */
const SUBCOMMANDS: readonly (readonly string[])[] = `
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
  git tag, git branch, git fetch, git pull
  mkdir, touch
`
  .trim()
  .split(/,\s*|\n\s*/)
  .map((words) => words.split(' '))

/** The first words of a command that say what it does; nothing if what follows could make it something else. */
export function subcommandOf(words: readonly string[]): readonly string[] | undefined {
  const found = SUBCOMMANDS.filter((one) =>
    one.every((word, at) => (word === '*' ? isName(words[at]) : words[at] === word)),
  )
  const longest = found.sort((a, b) => b.length - a.length)[0]
  return longest && words.slice(0, longest.length)
}

function isName(word: string | undefined): boolean {
  return word !== undefined && /^[\w][\w:./@-]*$/.test(word)
}

/**
 * Says which of the words that follow a subcommand makes it something else: an option that names a program, settings or code,
 * a variable, an address, or a path out of the workspace.
 */
export function wordRisk(
  subcommand: readonly string[],
  rest: readonly string[],
  isOutside: (path: string) => boolean,
): string | undefined {
  const [program = ''] = subcommand
  const own = OPTIONS.filter(([names]) => subcommand.some((word) => names.split(' ').includes(posix.basename(word))))
  const end = program === 'npm' ? rest.indexOf('--') : -1
  for (const [at, word] of rest.entries()) {
    const isOption = word.startsWith('-') && word !== '-' && word !== '--'
    // What stands before `--` is for npm itself.
    const isForNpm = program === 'npm' && isOption && (end < 0 || at < end)
    const value = word.replace(/^--?[\w-]+=/, '')
    const isRisky =
      (isForNpm && !/^(?:-s|--silent|--if-present|-w|--workspaces?(?:=[\w@./-]+)?)$/.test(word)) ||
      LOADS.test(word) ||
      own.some(([, options]) => options.test(word)) ||
      /^[a-z][\w+.-]*(?:@[\w.-]+)?:(?:\S*$|:|\/\/)/i.test(value) ||
      (/^[~/]|(?:^|\/)\.\.(?:\/|$)/.test(value) && isOutside(value))
    if (isRisky) return word
  }
  return undefined
}

/** By custom, options that name a program, settings, code to load, or another place to work in. */
const LOADS =
  /^--?(?:exec|execdir|toolexec|vettool|eval|shell|script-shell|node-options|require|import|loader|experimental-loader|prefix|cwd|config|config-file|rcfile|settings|init-script|manifest-path|upload-pack|receive-pack|exec-path|git-dir|work-tree|template|plugin|plugins|rulesdir|resolve-plugins-relative-to|format|formatter|parser|runner|reporters?|transform|preset|environment|globalSetup|setupFiles\w*|testRunner|testEnvironment|use-compress-program|compiler|linker|overlay|modfile|kubeconfig|server|token|host|context|volume|mount|file|makefile|directory|include-dir|rootdir|root|dir|confcutdir|override-ini|python-executable|interpreter|pathspec-from-file|ext-diff|textconv|output|out-?dir|target-dir|open-files-in-pager)(?:=|$)/i

/** The same for single programs, and their short options. */
const OPTIONS: readonly (readonly [programs: string, options: RegExp])[] = [
  ['make just rake ninja', /^-[a-zA-Z]*[CfIEerR]|^[\w.]+[:+?]?=/],
  ['cargo', /^-[CZ]/],
  ['go', /^--?(?:C|o|ldflags|gcflags|asmflags|gccgoflags|pkgdir|mod)(?:=|$)/],
  ['git', /^-[cCOFs]|^--(?:strategy|exec|edit|refmap|recurse-submodules)/],
  ['pytest python python3 uv poetry', /^-[pco]/],
  ['mvn gradle gradlew mvnw', /^-(?!D(?:test=|skipTests|maven\.test\.skip)|q$|x$|-tests|-info$|-stacktrace$)/],
  ['eslint prettier jest vitest mocha biome', /^-[cfrp]/],
  ['kubectl', /^-[sf]|(?:^|,)secrets?(?:[/,.]|$)/],
  ['docker', /^-[foHv]|^--(?:secret|ssh|build-context|add-host|network)/],
  ['terraform helm', /^-(?:var-file|chdir|f|-post-renderer)/],
  ['mypy ruff black isort flake8 pylint tox', /^-[cp]/],
]
