#if AVIF
    import AlcedoCore

    /// One box of an ISO base media file, as positions in the file's bytes. Source: ISO/IEC 14496-12, section 4.2.
    struct ISOBox {
        /// The four characters of the box's type, as a big-endian number.
        let type: UInt32
        /// The offset of the first byte after the header.
        let start: Int
        /// The offset after the last byte. It may be beyond the received bytes, but never beyond the containing box.
        let end: Int

        /// Reads the header at `offset`. Returns nil when the header is incomplete, or the size is below that of the
        /// header or exceeds `limit`. A size of zero means that the box extends to the limit.
        ///
        /// - Parameter limit: The end of the containing box, or nil for a box of the file, which may end after the
        ///   bytes.
        init?(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int, limit: Int?) {
            let available = min(limit ?? bytes.count, bytes.count)
            guard let size = bytes.bigEndian(at: offset, 4, end: available),
                let type = bytes.bigEndian(at: offset + 4, 4, end: available)
            else { return nil }
            self.type = UInt32(truncatingIfNeeded: type)
            switch size {
            case 0:
                start = offset + 8
                end = limit ?? bytes.count
            case 1:
                guard let large = bytes.bigEndian(at: offset + 8, 8, end: available), large >= 16,
                    large <= UInt64(Int.max - offset)
                else { return nil }
                start = offset + 16
                end = offset + Int(large)
            default:
                guard size >= 8, size <= UInt64(Int.max - offset) else { return nil }
                start = offset + 8
                end = offset + Int(size)
            }
            if let limit, end > limit { return nil }
        }

        /// The type of four ASCII characters.
        static func type(_ name: StaticString) -> UInt32 {
            name.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
        }

        /// Returns the boxes inside this one, which must be among the bytes. Ends at the first damaged box.
        ///
        /// - Parameter skipped: The number of bytes between the header and the first box.
        func children(_ bytes: UnsafeBufferPointer<UInt8>, skipping skipped: Int = 0) -> [ISOBox] {
            var boxes: [ISOBox] = []
            var offset = start + skipped
            while offset < end, let box = ISOBox(bytes, at: offset, limit: end) {
                boxes.append(box)
                offset = box.end
            }
            return boxes
        }

        /// Returns the first box inside this one with a type.
        func child(_ name: StaticString, _ bytes: UnsafeBufferPointer<UInt8>, skipping skipped: Int = 0) -> ISOBox? {
            let wanted = Self.type(name)
            return children(bytes, skipping: skipped).first { $0.type == wanted }
        }

        /// Returns the boxes inside this one to which a path of types leads.
        func descendants(_ path: [StaticString], _ bytes: UnsafeBufferPointer<UInt8>) -> [ISOBox] {
            var boxes = [self]
            for name in path {
                let wanted = Self.type(name)
                boxes = boxes.flatMap { box in box.children(bytes).filter { $0.type == wanted } }
            }
            return boxes
        }

        /// Returns the big-endian number of at most eight bytes at an offset from the payload's start, or nil when it
        /// is not inside the box.
        func number(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int, _ count: Int) -> UInt64? {
            bytes.bigEndian(at: start + offset, count, end: min(end, bytes.count))
        }
    }

    extension UnsafeBufferPointer<UInt8> {
        /// Returns the big-endian number of `count` bytes at `offset`, or nil when it does not end before `end`.
        fileprivate func bigEndian(at offset: Int, _ count: Int, end: Int) -> UInt64? {
            guard offset >= 0, offset <= end, count <= end - offset else { return nil }
            return self[offset..<offset + count].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }
#endif
