import { playFaults } from '../support/faults.ts'
import { commandPlays } from './command.ts'

playFaults('faults of a command', commandPlays)
