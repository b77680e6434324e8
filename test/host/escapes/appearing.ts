import type { Escape } from './escape.ts'

const run = (script: string): string => `"$PYTHON" - <<'END'\nimport ctypes, os, sys, time\n${script}\nEND`
const renameat2 = (from: string, to: string, flags: number): string =>
  `ctypes.CDLL(None).syscall(316, -100, b'${from}', -100, b'${to}', ${flags})`
/** Settings of git that run a program, in a repository that the command makes itself. */
const inNewRepository = (name: string, ...commands: readonly string[]): Escape => ({
  name: `a new repository: ${name}`,
  commands: ['mkdir evil; echo evil > evil/pre-commit; chmod +x evil/pre-commit', ...commands],
})

/** Protected paths that come to be by other ways than by their plain names, or cannot be taken away again. */
export const APPEARING: readonly Escape[] = [
  {
    name: 'in a folder that is closed afterwards',
    commands: [run("open('.npmrc', 'w').write('evil'); os.chmod('.', 0o555)")],
  },
  {
    name: 'in a folder that cannot be listed',
    commands: [run("os.chmod('.', 0o300); open('.npmrc', 'w').write('evil')"), 'true'],
  },
  {
    name: 'in a folder on the way that is closed afterwards',
    commands: [
      run(
        "os.makedirs('.github/workflows'); open('.github/workflows/x.yml', 'w').write('evil'); os.chmod('.github', 0o555)",
      ),
      'true',
    ],
  },
  {
    name: 'in a folder on the way that nobody can enter, for a while',
    commands: [
      run(
        "os.makedirs('.github/workflows'); open('.github/workflows/x.yml', 'w').write('evil'); os.chmod('.github', 0)",
      ),
      'chmod 755 .github',
    ],
  },
  {
    name: 'by a name that is no text',
    commands: [run("open(b'\\xff\\xfe.code-workspace', 'w').write('evil')"), 'true'],
  },
  {
    name: 'by names with line ends and tabs',
    commands: [run("open('a\\nb.code-workspace', 'w').write('evil'); open('a\\tb.code-workspace', 'w').write('evil')")],
  },
  {
    name: 'by the longest names',
    commands: [
      run(
        "open('a' * 240 + '.code-workspace', 'w').write('evil'); open('\\u20ac' * 80 + '.code-workspace', 'w').write('evil'); open('\\U0001f600' * 60 + '.code-workspace', 'w').write('evil')",
      ),
    ],
  },
  {
    name: 'by a name that looks as if it had been set aside',
    commands: ['echo evil > x.set-aside.code-workspace; echo evil > x.set-aside-2.code-workspace'],
  },
  {
    name: 'by other letters on the way',
    commands: [
      'mkdir -p .GitHub/workflows .Cargo; echo evil > .GitHub/workflows/x.yml; echo evil > .Cargo/config.toml',
      'mkdir -p .github/Workflows .cargo; echo evil > .github/Workflows/x.yml; echo evil > .cargo/Config.toml',
    ],
  },
  {
    name: 'by letters that other disks take for the same',
    commands: [
      'mkdir .v\u017fcode; echo evil > .v\u017fcode/tasks.json; mkdir .hus\u212ay; echo evil > .hus\u212ay/pre-commit',
    ],
  },
  {
    name: 'by a folder that is renamed while it is open',
    commands: [
      `mkdir ready; (cd ready; sleep 0.3; mkdir workflows; echo evil > workflows/x.yml; sleep 0.3; mkdir -p workflows; echo evil > workflows/x.yml; sleep 5) & mv ready .github; :`,
    ],
    lingers: 1200,
  },
  {
    name: 'by the paths of a process',
    commands: [
      'echo evil > "/proc/self/root$PWD/.npmrc"; echo evil > /proc/self/cwd/.envrc; exec 8< .; mkdir /proc/self/fd/8/.vscode; echo evil > /proc/self/fd/8/.vscode/x',
    ],
  },
  {
    name: 'by a link to a folder of the workspace',
    commands: ['mkdir -p src/workflows; echo evil > src/workflows/x.yml; ln -s src .github', 'true'],
  },
  {
    name: 'by a link on the way that comes later',
    commands: [
      'mkdir .github; (sleep 0.3; rmdir .github; ln -s "$OUT" .github; sleep 0.01; mkdir .github/workflows; echo evil > .github/workflows/x) & :',
      'sleep 0.5; mkdir -p .github/workflows; echo evil > .github/workflows/x.yml',
    ],
    lingers: 600,
  },
  {
    name: 'by an exchange of the folder on the way',
    before: 'mkdir -p .github/workflows; echo kept > .github/workflows/x.yml',
    commands: [
      run(
        `os.makedirs('g/workflows'); open('g/workflows/x.yml', 'w').write('evil'); ${renameat2('g', '.github', 2)}; ${renameat2('g/workflows', '.github/workflows', 2)}; ${renameat2('g', '.github', 4)}`,
      ),
    ],
  },
  {
    name: 'by an exchange with a link',
    before: 'mkdir .github',
    commands: [run(`os.symlink(os.environ['OUT'], 'l'); ${renameat2('l', '.github', 2)}`), 'mkdir .github/workflows'],
  },
  {
    name: 'by a second name of a file that stays open',
    commands: ['echo evil > plain; (exec 7>>plain; ln plain .npmrc; sleep 0.4; ln -f plain .npmrc; echo evil >&7) & :'],
    lingers: 900,
  },
  {
    name: 'by a second name of a protected file',
    before: 'echo kept > AGENTS.md; mkdir .vscode; echo kept > .vscode/tasks.json',
    commands: [
      'ln AGENTS.md a && echo evil > a; ln .vscode/tasks.json t && echo evil > t; ln "/proc/self/root$PWD/AGENTS.md" b && echo evil > b',
    ],
  },
  {
    name: 'by a pipe and a socket',
    commands: [run("import socket; os.mkfifo('.npmrc'); socket.socket(socket.AF_UNIX).bind('.envrc')")],
  },
  {
    name: 'a pointer of Jujutsu',
    commands: ['mkdir -p .jj evil/repo; echo evil > evil/repo/config.toml; echo ../evil/repo > .jj/repo'],
  },
  {
    name: 'a pointer of Mercurial and of Sapling',
    commands: [
      'mkdir -p .hg .sl evil; echo evil > evil/hgrc; echo share-safe > .hg/requires; echo "$PWD/evil" > .hg/sharedpath; echo "$PWD/evil" > .sl/sharedpath',
    ],
  },
  inNewRepository('hooks elsewhere', 'git init -q .; git config core.hooksPath evil'),
  inNewRepository('settings that are included', 'git init -q .; git config include.path ../evil/pre-commit'),
  inNewRepository(
    'settings that are included on a condition',
    'git init -q .; git config includeIf.gitdir:/.path ../evil/x',
  ),
  inNewRepository(
    'a filter',
    'git init -q .; mkdir -p .git/info; echo "* filter=x" > .git/info/attributes; git config filter.x.clean ./evil/pre-commit',
  ),
  inNewRepository(
    'settings that change while they are mapped',
    `git init -q .; ${run(`
import mmap
f = os.open('.git/config', os.O_RDWR); os.write(f, b'[core]\\n#' + b' ' * 200 + b'\\n'); m = mmap.mmap(f, 0)
if os.fork() == 0:
    time.sleep(1); m[0:30] = b'[core]\\npager=evil\\n#12345678\\n\\n'; time.sleep(30)
os._exit(0)`)}`,
    'sleep 2',
  ),
  inNewRepository(
    'a hook that is renamed',
    'git init -q .; (sleep 0.4; cp evil/pre-commit .git/hooks/pre-commit) & :',
    'sleep 1',
  ),
  inNewRepository(
    'a submodule of its own',
    'git init -q .; mkdir -p .git/modules/x; cp evil/pre-commit .git/modules/x/config',
  ),
  inNewRepository('a pointer', 'git init -q other; echo "gitdir: other/.git" > .git'),
  inNewRepository('without a folder', 'git init -q --bare .; git config core.fsmonitor evil'),
  inNewRepository(
    'without a folder, over several commands',
    'echo "ref: refs/heads/x" > HEAD',
    'printf "[core]\\n\\tpager = evil\\n" > config; mkdir objects',
    'mkdir refs',
  ),
  inNewRepository(
    'without a folder, with its parts elsewhere',
    'git init -q --bare other; echo "ref: refs/heads/x" > HEAD; echo other > commondir; git -C other config core.pager evil',
  ),
]
