#if Sandbox
    import AlcedoCore
    import FoundationEssentials

    /// Writes numbers, texts and bytes one after another into shared memory. ``isFull`` tells whether something did not
    /// fit.
    struct PayloadWriter {
        private let memory: UnsafeMutableRawBufferPointer
        private(set) var count = 0
        private(set) var isFull = false

        init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

        mutating func append(_ number: Int64) {
            guard memory.count - count >= 8 else {
                isFull = true
                return
            }
            memory.storeBytes(of: number, toByteOffset: count, as: Int64.self)
            count += 8
        }

        mutating func append(_ number: Int) { append(Int64(number)) }

        /// Appends a number that may be absent.
        mutating func append(_ number: Int?) {
            append(number == nil ? 0 : 1)
            if let number { append(number) }
        }

        mutating func append(_ text: String) {
            var text = text
            text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
        }

        /// Appends bytes that may be absent.
        mutating func append(_ data: Data?) {
            append(data == nil ? 0 : 1)
            data?.withUnsafeBytes { append($0) }
        }

        mutating func append(_ duration: Duration) {
            append(duration.components.seconds)
            append(duration.components.attoseconds)
        }

        private mutating func append(_ bytes: UnsafeRawBufferPointer) {
            append(bytes.count)
            guard !isFull, memory.count - count >= bytes.count else {
                isFull = true
                return
            }
            UnsafeMutableRawBufferPointer(rebasing: memory[count..<count + bytes.count]).copyMemory(from: bytes)
            count += bytes.count
        }
    }

    /// Reads the payload of a reply from memory that a hostile worker may write at the same time: every byte is read
    /// once, and every length is checked before it is used.
    struct PayloadReader {
        private let memory: UnsafeRawBufferPointer
        private var offset = 0

        /// Creates a reader of the first `count` bytes.
        init(_ memory: UnsafeRawBufferPointer, count: UInt64) throws(WorkerFailure) {
            guard let count = Int(exactly: count), count <= memory.count else {
                throw .violation("a payload of \(count) bytes")
            }
            self.memory = UnsafeRawBufferPointer(rebasing: memory[..<count])
        }

        mutating func number() throws(WorkerFailure) -> Int64 {
            guard memory.count - offset >= 8 else { throw .violation("a payload that ends early") }
            defer { offset += 8 }
            return memory.loadUnaligned(fromByteOffset: offset, as: Int64.self)
        }

        /// Reads a number within a range.
        mutating func number(in range: ClosedRange<Int>) throws(WorkerFailure) -> Int {
            guard let value = Int(exactly: try number()), range.contains(value) else {
                throw .violation("a number out of range")
            }
            return value
        }

        mutating func isPresent() throws(WorkerFailure) -> Bool { try number(in: 0...1) == 1 }

        mutating func data() throws(WorkerFailure) -> Data {
            let count = try number(in: 0...memory.count)
            guard memory.count - offset >= count else { throw .violation("a payload that ends early") }
            defer { offset += count }
            return Data(UnsafeRawBufferPointer(rebasing: memory[offset..<offset + count]))
        }

        /// Reads a profile or other metadata that may be absent. Throws if it exceeds the limit. The first 64 KiB are
        /// always allowed, because a decoder may make a profile itself.
        mutating func metadata(_ limits: DecodingLimits) throws(WorkerFailure) -> Data? {
            guard try isPresent() else { return nil }
            let metadata = try data()
            guard metadata.count <= max(limits.maximumMetadataByteCount, 64 << 10) else {
                throw .violation("\(metadata.count) bytes of metadata")
            }
            return metadata
        }

        /// Reads a resolution that may be absent. Throws unless it is positive.
        mutating func resolution() throws(WorkerFailure) -> ImageResolution? {
            guard try isPresent() else { return nil }
            let resolution = ImageResolution(
                horizontal: Double(bitPattern: UInt64(bitPattern: try number())),
                vertical: Double(bitPattern: UInt64(bitPattern: try number())))
            guard resolution.isValid else { throw .violation("an invalid resolution") }
            return resolution
        }

        /// Reads a text for logs, at most 1,000 bytes without control characters.
        mutating func message() throws(WorkerFailure) -> String {
            let text = String(decoding: try data().prefix(1_000), as: UTF8.self)
            return String(
                String.UnicodeScalarView(
                    text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
        }

        /// Reads the name of a format, which may become part of a media type.
        mutating func format() throws(WorkerFailure) -> ImageFormat {
            let name = try data()
            let isPlain = name.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || Array("+-._".utf8).contains(byte)
            }
            guard isPlain, (1...InputLayout.nameByteCount).contains(name.count) else {
                throw .violation("an invalid name of a format")
            }
            return ImageFormat(rawValue: String(decoding: name, as: UTF8.self))
        }

        /// Reads a duration from 0 to 68 years.
        mutating func duration() throws(WorkerFailure) -> Duration {
            let seconds = try number(in: 0...Int(Int32.max))
            let attoseconds = try number(in: 0...999_999_999_999_999_999)
            return Duration(secondsComponent: Int64(seconds), attosecondsComponent: Int64(attoseconds))
        }

        mutating func durations(_ counts: ClosedRange<Int>) throws(WorkerFailure) -> [Duration] {
            let count = try number(in: counts)
            var list: [Duration] = []
            for _ in 0..<count { list.append(try duration()) }
            return list
        }
    }
#endif
