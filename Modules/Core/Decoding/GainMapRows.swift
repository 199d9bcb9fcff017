import AlcedoLibc
import FoundationEssentials

/// A consumer that makes rows in HDR from rows in SDR, and passes them on. Memory: the map, one row of the image and
/// one of the map, and tables.
///
/// The rows are RGBA8 or RGBA16 with the curve of sRGB, and become RGBA16 in PQ, in which white is 203 cd/m². The map
/// is stretched over the image, and its samples are interpolated.
package final class GainMapRows: PixelRowConsumer {
    /// A column of the image: the offsets of the two samples of the map beside it, and the part of the second one.
    private struct Column {
        var left: Int32
        var right: Int32
        var part: Float
    }

    /// The samples of the map: gray8 or RGBA8.
    private let map: PixelBuffer
    private let colorProfile: Data
    private let next: any PixelRowConsumer
    private let channels: [GainMapMetadata.Channel]
    /// The number of steps between the lowest and the highest sample of the map in the tables of gains.
    private static let stepCount = 4_096
    /// The gains of red, green and blue.
    private let gains: [[Float]]
    private var isDeep = false
    /// The light of all samples of sRGB.
    private var light: [Float] = []
    private let encoder = PQEncoder()
    private var columns: [Column] = []
    private var mapRow: [Float] = []
    private var output: [UInt16] = []
    private var height = 0
    private var nextRow = 0

    package init(_ map: DecodedGainMap, next: any PixelRowConsumer) {
        self.map = map.pixels
        colorProfile = map.colorProfile
        self.next = next
        channels = map.metadata.channels
        // One value more than points, for the interpolation at the end.
        gains = map.metadata.channels.map { channel in
            (0...Self.stepCount + 1).map { Float(channel.gain(min(1, Double($0) / Double(Self.stepCount)))) }
        }
    }

    package func begin(_ header: PixelRowHeader) throws {
        isDeep = header.format == .rgba16
        let white = isDeep ? 65_535 : 255
        light = (0...white).map { Float(TransferFunction.sRGB.light(Double($0) / Double(white))) }
        var header = header
        (header.format, header.alphaMode, header.colorProfile) = (.rgba16, .opaque, colorProfile)
        height = header.size.height
        nextRow = 0
        let sampleCount = map.format.bytesPerPixel
        columns = (0..<header.size.width).map { x in
            let (left, part) = Self.position(x, header.size.width, in: map.width)
            let right = min(left + 1, map.width - 1)
            return Column(left: Int32(left * sampleCount), right: Int32(right * sampleCount), part: part)
        }
        mapRow = Array(repeating: 0, count: map.width * sampleCount)
        output = Array(repeating: .max, count: 4 * header.size.width)
        try next.begin(header)
    }

    /// Returns the sample of the map before the center of a pixel, and the distance of the center from it.
    private static func position(_ pixel: Int, _ count: Int, in mapCount: Int) -> (sample: Int, part: Float) {
        let center = (Double(pixel) + 0.5) * Double(mapCount) / Double(count) - 0.5
        let clamped = min(max(0, center), Double(mapCount - 1))
        return (Int(clamped), Float(clamped - clamped.rounded(.down)))
    }

    package func consume(_ row: RawSpan) throws {
        readMap(nextRow)
        nextRow += 1
        for channel in 0..<3 {
            if isDeep { convert(UInt16.self, row, channel) } else { convert(UInt8.self, row, channel) }
        }
        try output.withUnsafeBytes { try next.consume(RawSpan(_unsafeBytes: $0)) }
    }

    package func finish() throws { try next.finish() }

    package func byteCount(for header: PixelRowHeader) -> Int { next.byteCount(for: header) }

    /// Sets the row of the map, in steps of the tables, for a row of the image.
    private func readMap(_ y: Int) {
        let (top, part) = Self.position(y, height, in: map.height)
        let bottom = min(top + 1, map.height - 1)
        let scale = Float(Self.stepCount) / 255
        let (first, second) = (top * map.bytesPerRow, bottom * map.bytesPerRow)
        mapRow.withUnsafeMutableBufferPointer { mapRow in
            map.withUnsafeBytes { memory in
                for x in mapRow.indices {
                    let (a, b) = (Float(memory[first + x]), Float(memory[second + x]))
                    mapRow[x] = (a + (b - a) * part) * scale
                }
            }
        }
    }

    /// Converts red, green or blue of a row.
    private func convert<Sample: UnsignedInteger>(_ type: Sample.Type, _ row: RawSpan, _ channel: Int) {
        let offset = map.format.isGray ? 0 : channel
        let (baseOffset, alternateOffset) = (
            Float(channels[channel].baseOffset), Float(channels[channel].alternateOffset)
        )
        row.withUnsafeBytes { memory in
            let row = memory.assumingMemoryBound(to: type)
            output.withUnsafeMutableBufferPointer { output in
                mapRow.withUnsafeBufferPointer { mapRow in
                    gains[channel].withUnsafeBufferPointer { gains in
                        for (x, column) in columns.enumerated() {
                            let (a, b) = (mapRow[Int(column.left) + offset], mapRow[Int(column.right) + offset])
                            let position = a + (b - a) * column.part
                            let step = Int(position)
                            let gain = gains[step] + (gains[step + 1] - gains[step]) * (position - Float(step))
                            let base = light[Int(row[4 * x + channel])]
                            output[4 * x + channel] = encoder.sample((base + baseOffset) * gain - alternateOffset)
                        }
                    }
                }
            }
        }
    }
}

/// Samples of PQ for light of which 1 is the reference white, by a table with 512 points for each power of two.
private struct PQEncoder {
    private static let smallest = Float(0x1p-24)
    /// 10,000 cd/m², in units of 203 cd/m².
    private static let largest = Float(10_000.0 / 203)
    private static let shift: UInt32 = 14
    private let table: [Float]

    init() {
        let count = (Float(64).bitPattern - Self.smallest.bitPattern) >> Self.shift
        table = (0...count).map { index in
            let light = Float(bitPattern: Self.smallest.bitPattern + index << Self.shift)
            return Float(min(1, TransferFunction.pqSample(Double(light))) * 65_535)
        }
    }

    /// Returns the sample for light, which is finite. Light outside of the range of PQ is clipped.
    func sample(_ light: Float) -> UInt16 {
        guard light >= Self.smallest else { return UInt16(max(0, light) / Self.smallest * table[0] + 0.5) }
        let bits = min(light, Self.largest).bitPattern - Self.smallest.bitPattern
        let index = Int(bits >> Self.shift)
        let part = Float(bits & (1 << Self.shift - 1)) / Float(1 << Self.shift)
        return UInt16(table[index] + (table[index + 1] - table[index]) * part + 0.5)
    }
}
