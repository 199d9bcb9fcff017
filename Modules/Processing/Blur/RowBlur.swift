import AlcedoCore

/// Blurs rows while they arrive.
final class RowBlur: PixelRowConsumer {
    private let machine: (PixelRowHeader) throws(ImageProcessingError) -> BlurMachine?
    private let next: any PixelRowConsumer
    /// nil when rows pass as they are.
    private var stage: Stage?

    /// A machine with the memory of the row it gives.
    private final class Stage {
        var machine: BlurMachine
        let result: RowMemory

        init(_ machine: consuming BlurMachine, _ result: RowMemory) {
            self.machine = machine
            self.result = result
        }
    }

    /// - Parameter machine: Makes what works on pictures of this kind; nil when they stay as they are.
    init(
        _ machine: @escaping (PixelRowHeader) throws(ImageProcessingError) -> BlurMachine?, next: any PixelRowConsumer
    ) {
        self.machine = machine
        self.next = next
    }

    func begin(_ header: PixelRowHeader) throws {
        try PixelLimits.checkRows(of: header)
        stage = nil
        if let machine = try machine(header) {
            stage = Stage(machine, RowMemory(byteCount: header.bytesPerRow))
        }
        try next.begin(header)
    }

    func consume(_ row: RawSpan) throws {
        guard let stage else { return try next.consume(row) }
        row.withUnsafeBytes { row in
            guard let base = row.baseAddress else { return }
            stage.machine.push(base)
        }
        while stage.machine.pull(into: stage.result.base) { try next.consume(stage.result.buffer.bytes) }
    }

    func finish() throws { try next.finish() }
}
