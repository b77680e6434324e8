// Two hundred children are started and killed: each loads only what it needs.
const [, , role, what = '', , name = '', times = ''] = process.argv
if (role === '--child') {
  const { act } = await import('./settings-child.ts')
  act(what, name, Number(times))
} else {
  const [{ playFaults }, { settingsPlays }] = await Promise.all([
    import('../support/faults.ts'),
    import('./settings.ts'),
  ])
  playFaults('faults while settings are written', settingsPlays)
}
