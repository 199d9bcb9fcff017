#if GTK
    import AlcedoGTK
    import Testing

    @Suite struct PrefetchWindowTests {
        private typealias Change = PrefetchWindow.Change

        @Test func `a new list prefetches the following items`() {
            var window = PrefetchWindow(length: 3)

            #expect(window.move(to: 0..<4, of: 100) == Change(start: [4, 5, 6], stop: []))
        }

        @Test func `scrolling prefetches new items and cancels visible ones`() {
            var window = PrefetchWindow(length: 3)
            _ = window.move(to: 0..<4, of: 100)

            #expect(window.move(to: 2..<6, of: 100) == Change(start: [7, 8], stop: [4, 5]))
        }

        @Test func `reversing cancels the items behind and prefetches those ahead, nearest first`() {
            var window = PrefetchWindow(length: 3)
            _ = window.move(to: 50..<54, of: 100)

            #expect(window.move(to: 48..<52, of: 100) == Change(start: [47, 46, 45], stop: [54, 55, 56]))
        }

        @Test func `an unchanged position changes nothing`() {
            var window = PrefetchWindow(length: 3)
            _ = window.move(to: 50..<54, of: 100)
            _ = window.move(to: 48..<52, of: 100)

            #expect(window.move(to: 48..<52, of: 100) == Change())
        }

        @Test func `nothing is prefetched beyond the ends`() {
            var window = PrefetchWindow(length: 10)

            #expect(window.move(to: 5..<9, of: 10) == Change(start: [9], stop: []))
            #expect(window.move(to: 2..<6, of: 10) == Change(start: [1, 0], stop: [9]))
        }

        @Test func `a list that shrinks or becomes empty is valid`() {
            var window = PrefetchWindow(length: 3)
            _ = window.move(to: 50..<54, of: 100)

            #expect(window.move(to: 50..<54, of: 10).start.allSatisfy { $0 < 10 })
            #expect(window.move(to: 0..<0, of: 0).start == [])
            #expect(window.reset() == [])
        }

        @Test func `replacing the items cancels all prefetches`() {
            var window = PrefetchWindow(length: 3)
            _ = window.move(to: 0..<4, of: 100)

            #expect(window.reset() == [4, 5, 6])
            #expect(window.reset() == [])
            #expect(window.move(to: 0..<4, of: 100).start == [4, 5, 6])
        }

        @Test(arguments: [0, -1]) func `a window of zero length prefetches nothing`(length: Int) {
            var window = PrefetchWindow(length: length)

            #expect(window.move(to: 0..<4, of: 100) == Change())
        }
    }
#endif
