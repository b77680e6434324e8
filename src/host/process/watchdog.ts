import { type ChildProcess, spawn } from 'node:child_process'
import { SAFE_GIT_SETTING_PATTERN } from '../sandbox/protect/new-git-repository.ts'
import { findShell } from './find-shell.ts'

/**
 * A small process that outlives us by a moment. If we are killed, nothing else ends what runs outside of a sandbox. It
 * reads from a pipe which process groups there are; when the pipe ends, because we have ended in whatever way, it kills
 * those groups and every process with our marker in its environment. Then it renames protected paths that commands in a
 * sandbox created, because nobody has checked since.
 */
export interface Watchdog {
  /** Started before there is anything to end. */
  start(): void
  add(group: number): void
  remove(group: number): void
  /** Processes with this in their environment outlive us. */
  keep(commandMarker: string): void
  watch(paths: WatchedPaths): PathWatch
}

export interface WatchedPaths {
  /** Patterns of paths, by real folder. */
  readonly missing: ReadonlyMap<string, readonly string[]>
  /** Paths that match a pattern and existed before. */
  readonly present: readonly string[]
}

export interface PathWatch {
  /** Somebody other than the command created this path, or it is gone. */
  setKnown(path: string, isKnown: boolean): void
  /** The command has ended and its paths were checked. */
  end(): void
}

export function createWatchdog(marker: string): Watchdog {
  let child: ChildProcess | undefined
  let commands = 0
  const folders = new Map<string, number>()
  const start = (): ChildProcess => (child ??= spawnWatchdog(marker))
  const send = (text: string): void => void start().stdin?.write(`${text}\n`)
  /** Most commands have the same patterns for a folder, so they are sent once. */
  const numberOf = (folder: string): number => {
    const known = folders.get(folder)
    if (known !== undefined) return known
    folders.set(folder, folders.size)
    send(`R${folders.size - 1}\t${folder}`)
    return folders.size - 1
  }
  return {
    start: () => void start(),
    add: (group) => send(`+${group}`),
    remove: (group) => send(`-${group}`),
    keep: (commandMarker) => send(`=${commandMarker}`),
    watch({ missing, present }) {
      const [first, count] = [commands, missing.size]
      commands += count
      for (const [index, [folder, patterns]] of [...missing].entries()) {
        const inside = present.filter((path) => path.startsWith(`${folder}/`))
        const number = numberOf([folder, ...patterns].map(escapeField).join('\t'))
        send([`B${first + index}`, number, ...inside.map(escapeField)].join('\t'))
      }
      const all = Array.from({ length: count }, (_, index) => first + index)
      return {
        setKnown(path, isKnown) {
          for (const id of all) send(`${isKnown ? 'K' : 'X'}${id}\t${escapeField(path)}`)
        },
        end: () => all.forEach((id) => send(`E${id}`)),
      }
    },
  }
}

/** Tabs separate paths, and line feeds end them. */
function escapeField(path: string): string {
  if (!/[\\\t\n]/.test(path)) return path
  return path.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n')
}

function spawnWatchdog(marker: string): ChildProcess {
  const args = ['--noprofile', '--norc', '-c', WATCHDOG_SCRIPT, 'dragoman-watchdog', marker, SAFE_GIT_SETTING_PATTERN]
  const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' }
  const child = spawn(findShell(), args, { cwd: '/', env, stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  child.on('error', () => undefined)
  child.stdin?.on('error', () => undefined)
  // It must not keep us alive: it waits for our end.
  child.unref()
  if (child.stdin && 'unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref()
  return child
}

/**
 * Processes that fork meanwhile are killed in the next round. Folders are entered one by one, and none through a link,
 * because other commands may run there. Names are turned into patterns, because only patterns match case-insensitively.
 */
const WATCHDOG_SCRIPT = `
trap '' HUP INT TERM
shopt -s nullglob dotglob nocaseglob
mark=$1 usual=$2 tab=$'\\t' IFS=
while read -r line; do
  rest=\${line#?} id=\${line#?}
  id=\${id%%$tab*} rest=\${rest#*$tab}
  case $line in
    +*) groups[id]=1 ;;
    -*) unset "groups[$id]" ;;
    =*) kept+=("$rest") ;;
    R*) folders[id]=$rest ;;
    B*) commands[id]=$rest$tab ;;
    K*) commands[id]+=$rest$tab ;;
    X*) commands[id]=\${commands[id]//"$tab$rest$tab"/$tab} ;;
    E*) unset "commands[$id]" ;;
  esac
done
there() { [ -e "$1" ] || [ -L "$1" ]; }
encode() {
  encoded=\${1//\\\\/\\\\\\\\}
  encoded=\${encoded//$tab/\\\\t}
  encoded=\${encoded//$'\\n'/\\\\n}
}
set_aside() {
  [[ $1 =~ \\.set-aside(-[0-9a-f]{1,8})?$ ]] && return
  encode "$PWD/$1"
  case $known in *"$tab$encoded$tab"*) return ;; esac
  [ -w . ] || chmod u+rwx .
  local start=$1
  [ \${#1} -gt 230 ] && start=\${1:0:50}
  for to in "$start.set-aside" "$start.set-aside-2" "$start.set-aside-3" "$start.set-aside-$RANDOM"; do
    there "$to" || { mv -T -- "$1" "$to"; return; }
  done
}
is_harmless() {
  case $1 in
    .git) [ -d "$2" ] && [ ! -L "$2" ] ;;
    .git/hooks) [ -d "$2" ] && [ ! -L "$2" ] && for one in "$2"/*; do [[ $one == *.sample ]] || return 1; done ;;
    .git/config) [ -n "$(find "./$2" -maxdepth 0 -type f -links 1)" ] && ! grep -qaviE -- "$usual" "./$2" ;;
    HEAD) ! there commondir && ! { there objects && there refs; } ;;
    *) false ;;
  esac
}
remove_new() {
  local name step=\${1%%/*} here=$PWD
  case $step in *'*'*) ;; *) step="\${step%?}[\${step: -1}]" ;; esac
  [ -r . ] || chmod u+rwx .
  for name in $step; do
    if [[ $1 != */* ]]; then is_harmless "$2" "$name" || set_aside "$name"
    elif [ -L "$name" ] || [ ! -d "$name" ]; then set_aside "$name"
    else (cd -P -- "$name" && [ "$PWD" = "$here/$name" ] && remove_new "\${1#*/}" "$2")
    fi
  done
}
for ((round = 1; round <= 50; round++)); do
  isBusy=
  for id in "\${!groups[@]}"; do kill -9 -- "-$id" && isBusy=1; done
  [ $round -le 3 ] && [ -d /proc/self ] && while read -r file; do
    id=\${file#/proc/}
    id=\${id%/environ}
    for one in "\${kept[@]}"; do grep -qszF -- "$one" "$file" && continue 2; done
    read -r stat < "/proc/$id/stat" && stat=\${stat##*)} && IFS=' ' read -r _ _ group _ <<< "$stat" && kill -9 -- "-$group"
    kill -9 "$id"
  done < <(grep -slzF -- "$mark" /proc/[0-9]*/environ)
  for command in "\${commands[@]}"; do
    known=$tab\${command#*$tab}
    IFS=$tab read -r -a patterns <<< "\${folders[\${command%%$tab*}]}"
    printf -v folder %b "\${patterns[0]}"
    (cd -P -- "$folder" && [ "$PWD" = "$folder" ] && for pattern in "\${patterns[@]:1}"; do
      printf -v pattern %b "$pattern"
      remove_new "$pattern" "$pattern"
    done)
  done
  [ $round -ge 3 ] && [ -z "$isBusy" ] && break
  sleep 0.1
done`
