import AlcedoCore
import AlcedoRuntime
import TestSupport
import Testing

@testable import AlcedoDiskCache

@Suite(.timeLimit(.minutes(10)))
struct IndexTableTests {
    /// Names that differ everywhere, names that hash to few slots, and names that hash to one slot.
    enum Names: CaseIterable {
        case spread, crowded, colliding

        func name(_ number: UInt64) -> EntryName {
            switch self {
            case .spread: EntryName(words: SIMD4(number &* 0x9E37_79B9_7F4A_7C15, number, 0, 0))
            // The last slots of a small table, so that runs wrap around its end.
            case .crowded: EntryName(words: SIMD4(.max - number % 5, 0, 0, number))
            case .colliding: EntryName(words: SIMD4(15, 0, number, 0))
            }
        }
    }

    private func entry(_ name: EntryName, size: Int) -> IndexEntry {
        let date = Timestamp(milliseconds: Int64(size))
        return IndexEntry(
            name: name, resourceHash: UInt64(size), file: FileSize(length: size / 2, occupied: size), storedAt: date,
            lastUse: date, expiry: nil,
            useNumber: Int64(size))
    }

    @Test func `sizes whose sum overflows are rejected`() {
        var table = IndexTable()
        for number in 0..<3 as Range<UInt64> { table.put(entry(Names.spread.name(number), size: .max / 2)) }

        #expect(table.totalSize == .max / 2 * 2)
    }

    @Test(arguments: Names.allCases, [1, 2, 3] as [UInt64])
    func `a table behaves like a dictionary`(names: Names, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = IndexTable()
        var model: [EntryName: IndexEntry] = [:]

        for step in 0..<6000 {
            let name = names.name(.random(in: 0..<200, using: &random))
            // Grows and shrinks alternately.
            let isGrowing = step / 500 % 2 == 0
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<(isGrowing ? 6 : 2):
                let entry = entry(name, size: step)
                table.put(entry)
                model[name] = entry
            case 0..<8:
                #expect(table.remove(name) == model.removeValue(forKey: name))
            default:
                guard let position = table.position(of: name) else { continue }
                let date = Timestamp(milliseconds: Int64(step))
                table.setUse(position, at: date, number: Int64(step), expiry: date)
                model[name]?.lastUse = date
                model[name]?.useNumber = Int64(step)
                model[name]?.expiry = date
            }
            if step == 4321 {
                table.removeAll()
                model = [:]
            }
            if step % 97 == 0 { check(table, model, names) }
        }
        check(table, model, names)
    }

    private func check(_ table: IndexTable, _ model: [EntryName: IndexEntry], _ names: Names) {
        #expect(table.count == model.count)
        #expect(table.totalSize == model.values.reduce(0) { $0 + $1.size })
        for number in 0..<200 as Range<UInt64> {
            let name = names.name(number)
            #expect(table.position(of: name).map { table[$0] } == model[name])
        }
        #expect(Set(table.entries.map(\.name)) == Set(model.keys))
    }

    @Test func `reserving changes only the capacity`() {
        var table = IndexTable()
        for number in 0..<50 as Range<UInt64> { table.put(entry(Names.spread.name(number), size: 1)) }
        table.reserve(10_000)
        table.reserve(3)
        for number in 0..<50 as Range<UInt64> { #expect(table.position(of: Names.spread.name(number)) == Int(number)) }
        #expect(table.totalSize == 50)
    }
}
