import type { Escape } from './escape.ts'

const findScratch = 's=$(dirname "$(readlink /proc/$$/fd/1)")'

/** Through the folders of ours that a command can find. */
export const SCRATCH: readonly Escape[] = [
  {
    name: 'a link to the home folder in the place of the next /tmp',
    commands: [
      `${findScratch}; mv "$s/tmp" "$s/old"; ln -s "$H" "$s/tmp"`,
      'echo evil >> /tmp/.bashrc; cat /tmp/.ssh/id_rsa',
    ],
  },
  {
    name: 'the same by the name of the scratch folder',
    commands: [
      'mv "$SCRATCH/tmp" "$SCRATCH/old"; ln -s "$H" "$SCRATCH/tmp"',
      'echo evil > /tmp/pwned; cat /tmp/.ssh/id_rsa',
    ],
  },
  {
    name: 'the scratch folder itself exchanged',
    commands: ['mv "$SCRATCH" "$SCRATCH.old"; mkdir "$SCRATCH"; ln -s "$OUT" "$SCRATCH/tmp"', 'echo evil > /tmp/pwned'],
  },
  {
    name: 'the folder above the scratch folder exchanged',
    commands: [
      'p=$(dirname "$SCRATCH"); mv "$p" "$p.old"; mkdir -p "$SCRATCH"; ln -s "$OUT" "$SCRATCH/tmp"',
      'echo evil > /tmp/pwned',
    ],
  },
  {
    name: 'a link in the place of the output file',
    commands: [`f=$(readlink /proc/$$/fd/1); rm -f "$f"; ln -s "$OUT/pwned" "$f"; echo evil`, 'echo evil'],
  },
  {
    name: 'a link in the place of the output file before the file is removed',
    commands: [`f=$(readlink /proc/$$/fd/1); mv "$f" "$f.x"; ln -s "$OUT/secret.txt" "$f"; echo x`],
  },
  {
    name: 'links in the place of output files to come',
    commands: ['for i in $(seq 200); do ln -s "$OUT/pwned" "$SCRATCH/command-$i.txt"; done; echo x', 'seq 100000'],
  },
  {
    name: 'a link out of /tmp that is followed when /tmp is removed',
    commands: ['ln -s "$OUT" /tmp/a; ln -s "$H" /tmp/b; mkdir /tmp/c; ln -s "$OUT" /tmp/c/d'],
  },
  {
    name: 'a folder in /tmp that becomes a link while /tmp is removed',
    commands: [
      'mkdir -p /tmp/flip; for i in $(seq 300); do mkdir -p /tmp/flip/$i; done; (while :; do mv /tmp/flip /tmp/f2; ln -s "$OUT" /tmp/flip; rm /tmp/flip; mv /tmp/f2 /tmp/flip; done) & :',
    ],
    lingers: 300,
  },
  {
    name: 'a link in /tmp where the workspace is mounted',
    commands: [
      't=/tmp/$(echo "$PWD" | cut -d/ -f3); mv "$t" /tmp/moved; ln -s "/oldroot$OUT" "$t"',
      'echo evil > /tmp/pwned; true',
    ],
  },
  {
    name: 'the descriptor of the output, opened again to write elsewhere',
    commands: ['cd /proc/self/fd/1/.. && echo evil > pwned; cd "/proc/$$/fd/1/../.." && echo evil > pwned'],
  },
  {
    name: 'a second name for the output file in the workspace',
    commands: [
      'ln -L /proc/$$/fd/1 hard; ln "$(readlink /proc/$$/fd/1)" hard2; [ -e hard ] && echo $WON; [ -e hard2 ] && echo $WON',
    ],
  },
  {
    name: 'descriptors that were left open',
    commands: [
      'for f in /proc/self/fd/*; do [ -d "$f/" ] && { echo evil > "$f/pwned"; cat "$f/../.ssh/id_rsa" "$f/.ssh/id_rsa"; }; done',
    ],
  },
  {
    name: 'the pipes of the keeper',
    commands: [
      'echo 0 >&4; echo x >&3; for p in 1 2; do echo 0 > /proc/$p/fd/4; cat /proc/$p/fd/3; ls -l /proc/$p/cwd/; done; sleep 1; touch late',
    ],
  },
  {
    name: 'our own process through /proc',
    commands: ['for p in 1 2 $PPID; do echo evil > "/proc/$p/root$OUT/pwned"; cat "/proc/$p/root$H/.ssh/id_rsa"; done'],
  },
  {
    name: 'the old root of the box',
    commands: ['ls /oldroot /newroot; echo evil > "/oldroot$OUT/pwned"; cat "/oldroot$H/.ssh/id_rsa"'],
  },
  {
    name: 'the private caches, from which the next command is fed',
    commands: [
      'mkdir -p "$SCRATCH/caches"; ln -s "$OUT" "$SCRATCH/caches/.npm+_cacache"',
      'echo evil > "$H/.npm/_cacache/pwned"',
    ],
    network: true,
  },
  {
    name: 'the filter of system calls, exchanged for an empty one',
    commands: [': > "$SCRATCH/filter"; rm -f "$SCRATCH"/filter*', 'unshare -U true && echo $WON'],
  },
]
