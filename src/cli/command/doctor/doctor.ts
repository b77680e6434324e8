import { printHelp } from '../../args/print-help.ts'

export async function runDoctorCommand(args: string[]): Promise<number | void> {
  if (args.length === 0) return printHelp('doctor')
  if (args.includes('--local')) {
    const { runLocalDoctor } = await import('./local-doctor.ts')
    return runLocalDoctor(args.filter((arg) => arg !== '--local'))
  }
  return (await import('./model-doctor.ts')).runModelDoctor(args)
}
