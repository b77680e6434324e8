import type { Escape } from './escape.ts'

/** To keys and settings of the person, and to places outside. */
export const HOME: readonly Escape[] = [
  {
    name: 'keys by their paths',
    commands: ['cat "$H/.ssh/id_rsa" "$H/.npmrc" "$H/.aws/credentials" "$H/.config/gcloud/key"'],
  },
  {
    name: 'our own settings',
    commands: ['cat "$H/.config/dragoman/config.json"; echo evil > "$H/.config/dragoman/config.json"'],
  },
  {
    name: 'keys through the tool chains that are shown',
    commands: ['cat "$H/.cargo/bin/../../.ssh/id_rsa"; cd "$H/.cargo/bin/../.." && cat .ssh/id_rsa'],
  },
  { name: 'all that is seen of the home folder', commands: ['grep -r canary "$H" /tmp /var/tmp /run 2>/dev/null'] },
  {
    name: 'start-up files of the shell',
    commands: ['for f in .bashrc .profile .zshrc .bash_profile; do echo evil >> "$H/$f"; done'],
  },
  {
    name: 'a program in a tool chain',
    commands: ['echo evil > "$H/.cargo/bin/tool"; rm "$H/.cargo/bin/tool"; mv "$H/.cargo/bin" "$H/x"'],
  },
  {
    name: 'a folder outside',
    commands: ['echo evil > "$OUT/pwned"; rm -rf "$OUT"; mv "$OUT" "$OUT.x"; touch "$OUT"; chmod 777 "$OUT"'],
  },
  {
    name: 'the machine',
    commands: [
      'for d in / /etc /usr /usr/local/bin /opt /var /var/lib /srv /boot /root /home; do echo evil > $d/dragoman-pwned; done',
    ],
  },
  {
    name: 'the machine’s temporary folders',
    commands: [
      'echo evil > /tmp/dragoman-pwned; echo evil > /var/tmp/dragoman-pwned; echo evil > /dev/shm/dragoman-pwned; echo evil > /run/dragoman-pwned',
    ],
  },
  {
    name: 'passwords of the machine',
    commands: [
      'for f in /etc/shadow /etc/shadow- /etc/gshadow /etc/sudoers /etc/ssh/ssh_host_rsa_key; do [ -s $f ] && head -c1 $f >/dev/null 2>&1 && echo $WON $f; done',
    ],
  },
  {
    name: 'a way up from the root',
    commands: ['cd /; cd ../../..; cat ..$H/.ssh/id_rsa; cat /proc/1/root/..$H/.ssh/id_rsa'],
  },
  {
    name: 'the cwd of a process in the box',
    commands: ['for p in /proc/[0-9]*; do cat $p/cwd/../home/.ssh/id_rsa $p/root$H/.ssh/id_rsa; done'],
  },
  {
    name: 'a setuid program',
    commands: [
      'cp /bin/bash b; chmod 4755 b; ./b -p -c "cat $H/.ssh/id_rsa; echo evil > $OUT/pwned"; sudo -n true && echo $WON; su -c true && echo $WON',
    ],
  },
  {
    name: 'devices',
    commands: [
      'for d in /dev/sd* /dev/vd* /dev/nvme* /dev/mem /dev/kmem /dev/kvm /dev/fuse; do [ -e $d ] && head -c1 $d >/dev/null 2>&1 && echo $WON $d; done',
    ],
  },
  {
    name: 'a device made anew',
    commands: [
      'mknod disk b 254 0 && head -c1 disk && echo $WON; mknod /tmp/disk b 254 0 && head -c1 /tmp/disk && echo $WON',
    ],
  },
  {
    name: 'keys at home in the workspace',
    atHome: true,
    commands: ['cat .ssh/id_rsa .npmrc .config/gcloud/key .aws/credentials; grep -r canary . 2>/dev/null'],
  },
  {
    name: 'keys at home by renaming',
    atHome: true,
    commands: ['mv .ssh s; cat s/id_rsa; mv .npmrc n; cat n; cp -r .aws a; cat a/*'],
  },
  {
    name: 'start-up files at home in the workspace',
    atHome: true,
    commands: [
      'for f in .bashrc .profile .zshrc .gitconfig .config/fish/config.fish .config/systemd/user/x .local/bin/ls .config/autostart/x; do mkdir -p $(dirname $f); echo evil > $f; done',
    ],
  },
  {
    name: 'start-up files at home from the background',
    atHome: true,
    commands: [
      '(sleep 0.4; echo evil > .bashrc; mkdir -p .config/autostart .local/bin; echo evil > .config/autostart/x; echo evil > .local/bin/ls) & :',
    ],
    lingers: 1000,
  },
  {
    name: 'our data at home in the workspace',
    atHome: true,
    commands: [
      'cat .config/dragoman/config.json; echo evil > .config/dragoman/config.json; mkdir -p .local/share/dragoman; echo evil > .local/share/dragoman/trust.json',
    ],
  },
  { name: 'caches without the network', commands: ['echo evil > "$H/.npm/_cacache/package"; rm -rf "$H/.npm"'] },
  {
    name: 'caches with the network',
    network: true,
    commands: [
      'echo evil > "$H/.npm/_cacache/package"; echo evil > "$H/.cargo/registry/evil"; echo evil > "$H/go/pkg/mod/evil"; echo evil > "$H/.m2/repository/evil"; echo evil > "$H/.cache/ms-playwright/evil"',
    ],
  },
  {
    name: 'caches by a server of tools',
    asServer: true,
    commands: [
      'echo evil > "$H/.npm/_cacache/package"; echo evil > "$H/.cargo/registry/evil"; echo evil > "$H/go/pkg/mod/evil"; echo evil > "$H/.m2/repository/evil"; echo evil > "$H/.cache/ms-playwright/evil"',
    ],
  },
  {
    name: 'caches by a link in the cache',
    network: true,
    commands: ['ln -s "$OUT" "$H/.npm/_cacache/l"', 'echo evil > "$H/.npm/_cacache/l/pwned"'],
  },
  {
    name: 'keys by a server of tools',
    asServer: true,
    commands: ['cat "$H/.ssh/id_rsa" "$H/.npmrc"; echo evil > "$H/.bashrc"; echo evil > "$OUT/pwned"'],
  },
]
