import AlcedoCore

/// Makes arriving rows upright, once it is known how they lie.
final class RowOrienter: PixelRowConsumer {
    private let orient: any ImageProcessing
    private let next: any PixelRowConsumer
    private var way: any PixelRowConsumer

    /// - Parameter orient: Does it for whole pictures.
    init(_ orient: any ImageProcessing, next: any PixelRowConsumer) {
        self.orient = orient
        self.next = next
        way = next
    }

    func begin(_ header: PixelRowHeader) throws {
        var upright = header
        upright.orientation = .up
        switch header.orientation {
        case .up:
            way = next
            try way.begin(header)
        case .upMirrored:
            way = RowMirror(next: next)
            try way.begin(upright)
        case .down, .downMirrored, .leftMirrored, .right, .rightMirrored, .left:
            way = WholePictureStage(next: next) { [orient] in try orient.process($0) }
            try way.begin(header)
        }
    }

    func consume(_ row: RawSpan) throws { try way.consume(row) }

    func finish() throws { try way.finish() }
}
