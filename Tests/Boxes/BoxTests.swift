import AlcedoBoxes
import Testing

@Suite struct BoxTests {
    @Test(arguments: [
        (Sample.box("free", [1, 2]), 8..<10),
        (Sample.largeBox("free", [1, 2]), 16..<18),
        (Sample.number(0, 4) + Array("free".utf8) + [1, 2, 3], 8..<11),
    ])
    func `a header has a size of 32 or 64 bits, or 0 for the rest of the file`(file: [UInt8], payload: Range<Int>) {
        file.withUnsafeBufferPointer { bytes in
            let box = Box(bytes, at: 0)
            #expect(box?.type == "free")
            #expect(box?.payload == payload)
        }
    }

    /// The fields of the header: the size, and the large size.
    @Test(arguments: [
        (7, [] as [UInt8]), (1, Sample.number(15, 8)), (1, Sample.number(.max, 8)), (1, Sample.number(-1, 8)),
        (1, Sample.number(16, 7)),
    ])
    func `an impossible size and an incomplete header are no box`(size: Int, largeSize: [UInt8]) {
        let file = Sample.number(size, 4) + Array("free".utf8) + largeSize
        // The box does not begin at 0, so that the sum of offset and size can overflow.
        ([0] + file).withUnsafeBufferPointer { #expect(Box($0, at: 1) == nil) }
    }

    @Test func `a box of the file may end after the received bytes, and a child may not exceed its parent`() throws {
        let inner = Sample.box("free", [1, 2, 3, 4])
        let file = Sample.box("meta", [0, 0, 0, 0] + Sample.box("pitm", []) + inner.dropLast())
        try file.withUnsafeBufferPointer { bytes in
            let meta = try #require(Box(bytes, at: 0))
            #expect(meta.children(skipping: 4).map(\.type) == ["pitm"])
            #expect(meta.children(skipping: 4).count == 1)
            #expect(meta.child("free", skipping: 4) == nil)
        }
        try file.prefix(12).withUnsafeBufferPointer { bytes in
            let meta = try #require(Box(bytes, at: 0))
            #expect(meta.payload.upperBound == file.count)
            #expect(meta.children(skipping: 4).first == nil)
        }
    }

    @Test func `a path leads to all boxes of its types`() throws {
        let track = Sample.box("trak", Sample.box("mdia", [1]) + Sample.box("edts", []) + Sample.box("mdia", [2]))
        try Sample.box("moov", track + track).withUnsafeBufferPointer { bytes in
            let movie = try #require(Box(bytes, at: 0))
            #expect(movie.descendants("trak", "mdia").map { $0.number(at: 0, 1) } == [1, 2, 1, 2])
            #expect(movie.descendants("trak", "minf").isEmpty)
        }
    }

    @Test func `a reader does not leave its range`() {
        let numbers: [UInt8] = [1, 2, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 3]
        numbers.withUnsafeBufferPointer { bytes in
            var reader = BoxReader(bytes, 0..<10)
            let first = [reader.unsigned(9), reader.unsigned(0), reader.unsigned(2)]
            #expect(first == [nil, 0, 0x0102])
            var copy = reader
            let last = [copy.unsigned(8), copy.unsigned(1)]
            #expect(last == [UInt64.max, nil])
            let integer = reader.integer(8)
            #expect(integer == nil)
            var beyond = BoxReader(bytes, 12..<20)
            #expect(beyond.rest.isEmpty)
            let canAdvance = [beyond.advance(0), beyond.advance(1)]
            #expect(canAdvance == [true, false])
            let text = beyond.text()
            #expect(text.isEmpty)
        }
    }

    @Test func `a text ends at a zero or at the end of the box`() throws {
        try Sample.box("infe", Array("mime\0xml".utf8)).withUnsafeBufferPointer { bytes in
            var reader = try #require(Box(bytes, at: 0)).reader
            let texts = [reader.text(), reader.text(), reader.text()]
            #expect(texts == ["mime", "xml", ""])
        }
    }
}

@Suite struct FileBoxesTests {
    private static let file =
        Sample.box("ftyp", Array("avif".utf8)) + Sample.box("meta", [1, 2]) + Sample.box("mdat", [3])

    @Test func `each box is returned once, when all of its bytes have arrived`() {
        var boxes = FileBoxes()
        var found: [BoxType: Int] = [:]
        var truncated: [Int] = []
        for count in 1...Self.file.count {
            Self.file.prefix(count).withUnsafeBufferPointer { bytes in
                while let box = boxes.next(bytes, hasHeader: found["meta"] != nil) { found[box.type] = count }
            }
            if boxes.isTruncated { truncated.append(count) }
        }
        #expect(found == ["ftyp": 12, "meta": 22, "mdat": 31])
        // After the box meta, the file could end.
        #expect(truncated == Array(1..<22) + Array(23..<31))
        #expect(!boxes.isForeign)
    }

    @Test func `a file that does not begin with brands is foreign`() {
        Sample.box("meta", []).withUnsafeBufferPointer { bytes in
            var boxes = FileBoxes()
            let box = boxes.next(bytes, hasHeader: false)
            #expect(box == nil)
            #expect(boxes.isForeign)
            #expect(!boxes.isTruncated)
        }
    }

    @Test(arguments: [("mdat", true), ("\0\0\0\0", false)])
    func `a cut box after the image is truncation only if its type is known`(type: String, isTruncated: Bool) {
        (Self.file + Sample.box(type, [1, 2, 3]).dropLast()).withUnsafeBufferPointer { bytes in
            var boxes = FileBoxes()
            while boxes.next(bytes, hasHeader: true) != nil {}
            #expect(boxes.isTruncated == isTruncated)
        }
    }
}

private enum Sample {
    static func number(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    static func box(_ type: String, _ payload: [UInt8]) -> [UInt8] {
        number(8 + payload.count, 4) + Array(type.utf8) + payload
    }

    static func largeBox(_ type: String, _ payload: [UInt8]) -> [UInt8] {
        number(1, 4) + Array(type.utf8) + number(16 + payload.count, 8) + payload
    }
}
