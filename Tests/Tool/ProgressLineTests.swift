import Alcedo
import AlcedoProgramSupport
import AlcedoTesting
import TestSupport
import Testing

@testable import AlcedoTool

@Suite(.timeLimit(.minutes(10)))
struct ProgressLineTests {
    private let clock = ManualClock()
    private let shown = Watched("")

    private func line(total: Int) -> ProgressLine {
        ProgressLine(total: total, isVisible: true, clock: clock, columns: { nil }) { [shown] text in
            if text != Console.clearing { shown.update { $0 = String(text.dropFirst(Console.clearing.count)) } }
        }
    }

    private func progress(_ counts: Int..., expected: Int?) -> TransferProgress {
        let transfer = TransferProgress()
        for count in counts { transfer.report(DownloadProgress(received: count, expected: expected)) }
        return transfer
    }

    @Test func `the rate counts files that are available at once in full`() async {
        let line = line(total: 4)
        for index in 0..<3 {
            let file = progress(0, 1 << 20, expected: 1 << 20)
            await line.begin(index, file)
            if index > 0 { await line.received(for: index) }
            clock.advance(by: .milliseconds(500))
            await line.finished(index, isComplete: true)
        }

        // The bytes of three seconds in one and a half.
        #expect(shown.value == "██████████████████░░░░░░ 3/4 images, 2.0 images/s, 0:01 left, 3072 KiB, 2048 KiB/s")
    }

    @Test func `bytes of an earlier run count in the total and not in the rate`() async {
        let line = line(total: 1)
        let transfer = progress(3 << 20, expected: 4 << 20)
        await line.begin(0, transfer)
        clock.advance(by: .seconds(1))
        transfer.report(DownloadProgress(received: 3 << 20 + 1 << 19, expected: 4 << 20))
        await line.received(for: 0)

        #expect(shown.value == "█████████████████████░░░ 0/1 images, 0:02 left, 3584 of 4096 KiB, 512 KiB/s")
    }

    @Test func `a restarted transfer does not lower the rate`() async {
        let line = line(total: 1)
        let transfer = progress(0, 1 << 20, expected: 2 << 20)
        await line.begin(0, transfer)
        await line.received(for: 0)
        transfer.report(DownloadProgress(received: 0, expected: 2 << 20))
        await line.received(for: 0)
        clock.advance(by: .seconds(1))
        transfer.report(DownloadProgress(received: 1 << 19, expected: 2 << 20))
        await line.received(for: 0)

        #expect(shown.value == "██████░░░░░░░░░░░░░░░░░░ 0/1 images, 0:02 left, 512 of 2048 KiB, 1536 KiB/s")
    }

    @Test func `the remaining time covers all images, and the total is printed once it is known`() async {
        let line = line(total: 3)
        let (first, second) = (progress(0, expected: 1000 << 10), progress(0, expected: 3000 << 10))
        await line.begin(0, first)
        await line.begin(1, second)
        clock.advance(by: .seconds(2))
        first.report(DownloadProgress(received: 200 << 10, expected: 1000 << 10))
        await line.received(for: 0)

        // 3,800 KiB of two and 2,000 of the third, which is assumed to be as large as they are, at 100 per second.
        #expect(shown.value == "█░░░░░░░░░░░░░░░░░░░░░░░ 0/3 images, 0:59 left, 200 KiB, 100 KiB/s")

        let third = progress(0, expected: 96 << 10)
        await line.begin(2, third)
        clock.advance(by: .seconds(2))
        await line.finished(0, isComplete: true)

        // One of three in four seconds.
        let text = "1/3 images, 0.2 images/s, 0:09 left, 1000 of 4096 KiB, 66 KiB/s"
        #expect(shown.value == "████████░░░░░░░░░░░░░░░░ " + text)
    }

    @Test func `nothing is written when standard error is not a terminal`() async {
        let line = ProgressLine(total: 1, isVisible: false, clock: clock, columns: { nil }) { [shown] text in
            shown.update { $0 += text }
        }
        await line.begin(0, progress(0, 10, expected: 10))
        await line.received(for: 0)
        clock.advance(by: .seconds(1))
        await line.finished(0, isComplete: true)
        await line.end()

        #expect(shown.value == "")
    }

    @Test func `a hundred thousand files cause no more updates than seconds allow`() {
        var rate = ByteRate(start: .zero)
        for index in 0..<100_000 { rate.add(10, at: .microseconds(50 * index)) }

        // 20,000 per second over three seconds, plus or minus a step.
        #expect((196_000...204_000).contains(rate.bytesPerSecond(at: .seconds(5))))
    }
}
