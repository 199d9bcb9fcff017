import AlcedoCore
import AlcedoTesting
import TestSupport
import Testing

/// A kit that cannot fail proves nothing, so each of these processors has one fault.
@Suite(.timeLimit(.minutes(10)))
struct ProcessorKitTests {
    enum Fault: CaseIterable {
        case countsInItsIdentifier, changesItsMind, turnsRows, forgetsWhatIsMissing, opensPixels, exceedsAlpha

        /// The check that must fail.
        var broken: String {
            switch self {
            case .countsInItsIdentifier: "equal processors have the same identifier before and after processing"
            case .changesItsMind: "equal processors produce equal images on each call"
            case .turnsRows: "processing rows gives exactly the rows of the whole image"
            case .forgetsWhatIsMissing: "processing a partial image gives a partial image"
            case .opensPixels: "an opaque result has no transparent pixel"
            case .exceedsAlpha: "premultiplied color never exceeds its alpha"
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func `a processor with one fault fails exactly the check of that fault`(fault: Fault) async {
        let failed = await failures(of: ProcessorConformance.checks) { _ in Processor(fault) }
        #expect(failed == [fault.broken])
    }

    @Test func `a processor without a fault fails no check`() async {
        #expect(await failures(of: ProcessorConformance.checks) { _ in Processor(nil) }.isEmpty)
    }

    @Test func `each check of the kit fails for some fault`() {
        #expect(Set(Fault.allCases.map(\.broken)) == Set(ProcessorConformance.checks.map(\.description)))
    }

    /// Changes nothing except by its fault.
    private struct Processor: ImageProcessing {
        private let fault: Fault?
        private let calls = Watched(0)
        private let last = Watched<PixelBuffer?>(nil)

        init(_ fault: Fault?) { self.fault = fault }

        var identifier: String {
            fault == .countsInItsIdentifier ? "same \(calls.value)" : "same"
        }

        func process(_ image: DecodedImage) -> DecodedImage {
            calls.update { $0 += 1 }
            let isRepeated = last.update { last in
                defer { last = image.pixels }
                return last == image.pixels
            }
            var result = changed(image)
            if fault == .changesItsMind, isRepeated { result.pixels.withUnsafeMutableBytes { $0[0] ^= 1 } }
            return result
        }

        private func changed(_ image: DecodedImage) -> DecodedImage {
            var image = image
            if fault == .forgetsWhatIsMissing { image.partialError = nil }
            let is8Bit = image.pixels.format == .rgba8
            switch fault {
            case .opensPixels where is8Bit && image.pixels.alphaMode == .opaque:
                image.pixels.withUnsafeMutableBytes { $0[3] = 7 }
            case .exceedsAlpha where is8Bit && image.pixels.alphaMode == .premultiplied:
                image.pixels.withUnsafeMutableBytes { ($0[0], $0[3]) = (9, 7) }
            default: break
            }
            return image
        }

        func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer {
            Stage(next: next, turns: fault == .turnsRows) { changed($0) }
        }
    }

    /// Collects an image and sends the rows of the processed one.
    private final class Stage: PixelRowConsumer {
        private let next: any PixelRowConsumer
        private let turns: Bool
        private let process: (DecodedImage) -> DecodedImage
        private let collector = PixelRowCollector()

        init(next: any PixelRowConsumer, turns: Bool, process: @escaping (DecodedImage) -> DecodedImage) {
            (self.next, self.turns, self.process) = (next, turns, process)
        }

        func begin(_ header: PixelRowHeader) throws { try collector.begin(header) }

        func consume(_ row: RawSpan) throws { try collector.consume(row) }

        func finish() throws {
            try collector.finish()
            guard let image = collector.image.map(process) else { return }
            try next.begin(image.rowHeader)
            for y in 0..<image.size.height {
                try next.consume(image.pixels.row(turns ? image.size.height - 1 - y : y))
            }
            try next.finish()
        }
    }
}
