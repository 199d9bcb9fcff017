#if Sandbox
    import AlcedoCore
    import CSandboxShim

    /// Sends rows to the app in pieces of about 256 KiB. While the app consumes one piece, the decoder fills another.
    final class RowSender: PixelRowConsumer {
        /// The error that ends the decoding when the app needs no further rows. It does not leave the worker.
        private struct Canceled: Error {}

        private static let pieceCount = 2

        private let output: OutputMemory
        private var bytesPerRow = 0
        private var rowsPerPiece = 0
        private var piece = 0
        private var rowCount = 0
        /// The number of messages, the header or pieces, that the app has not acknowledged.
        private var pending = 0
        private var isCanceled = false

        init(_ output: OutputMemory) { self.output = output }

        func begin(_ header: PixelRowHeader) throws {
            bytesPerRow = header.bytesPerRow
            rowsPerPiece = OutputLayout.rowsPerPiece(bytesPerRow: bytesPerRow)
            guard bytesPerRow > 0,
                output.copyArea(offset: 0, count: Self.pieceCount * rowsPerPiece * bytesPerRow) != nil
            else {
                throw ImageDecodingError(
                    .exceedsLimit,
                    "sandbox: rows of \(bytesPerRow) bytes exceed the limit "
                        + "(SandboxConfiguration.maximumOutputByteCount)")
            }
            var payload = PayloadWriter(output.payload)
            payload.append(header.colorProfile)
            payload.append(header.hasInks ? 1 : 0)
            payload.append(header.reduction)
            var reply = alcedo_sandbox_reply(.rowHeader)
            guard !payload.isFull else { throw ImageDecodingError(.exceedsLimit, "sandbox: the profile is too large") }
            reply.payload_count = UInt64(payload.count)
            reply.describe(header.size, header.format, header.alphaMode, header.orientation)
            WorkerSocket.send(reply)
            // A reply that ends the decoding overwrites the payload, so the app must have read it.
            pending += 1
        }

        func consume(_ row: RawSpan) throws {
            let offset = (piece * rowsPerPiece + rowCount) * bytesPerRow
            guard let target = output.copyArea(offset: offset, count: bytesPerRow), row.byteCount >= bytesPerRow else {
                throw ImageDecodingError(.decoderFailed, "sandbox: a row of \(row.byteCount) bytes")
            }
            row.withUnsafeBytes { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(bytesPerRow))) }
            rowCount += 1
            if rowCount == rowsPerPiece { try sendPiece() }
        }

        func finish() throws {
            if rowCount > 0 { try sendPiece() }
        }

        /// Waits until the app has acknowledged the header and all pieces.
        func awaitAll() {
            while pending > 0 { awaitOne() }
        }

        private func sendPiece() throws {
            var reply = alcedo_sandbox_reply(.rows)
            reply.code = UInt32(rowCount)
            reply.offset = output.outputOffset(ofCopy: piece * rowsPerPiece * bytesPerRow)
            WorkerSocket.send(reply)
            pending += 1
            rowCount = 0
            piece = (piece + 1) % Self.pieceCount
            // The next piece is free when the one before it has been acknowledged.
            while pending == Self.pieceCount { awaitOne() }
            if isCanceled { throw Canceled() }
        }

        private func awaitOne() {
            if WorkerSocket.receive().kind == RequestKind.cancel.rawValue { isCanceled = true }
            pending -= 1
        }
    }
#endif
